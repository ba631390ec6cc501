"""Where the database is, by the order that settings promise."""

from __future__ import annotations

from pathlib import Path

from kernelindex.settings import compiled_folder, data_folder, database_url

HOME = {"HOME": "/home/ada"}


def test_explicit_url_comes_first() -> None:
    url = "postgresql+psycopg://h/ki"
    assert database_url(url, environ={"KI_DB": "sqlite:///x"}) == url


def test_bare_path_is_a_sqlite_file() -> None:
    assert database_url("/data/x.db", environ=HOME) == "sqlite:////data/x.db"


def test_environment_comes_before_the_folders(tmp_path: Path) -> None:
    assert database_url(environ={"KI_DB": "sqlite:///a.db"}, cwd=tmp_path) == "sqlite:///a.db"


def test_clone_keeps_its_database_inside(tmp_path: Path) -> None:
    (tmp_path / "src" / "kernelindex").mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    assert database_url(environ=HOME, cwd=tmp_path) == f"sqlite:///{tmp_path}/.ki/ki.db"


def test_installed_program_uses_the_users_data_folder(tmp_path: Path) -> None:
    expected = "sqlite:////home/ada/.local/share/kernelindex/ki.db"
    assert database_url(
        environ={"HOME": "/home/ada", "XDG_DATA_HOME": "relative"}, cwd=tmp_path
    ) == (expected)


def test_compiled_code_lies_beside_the_database(tmp_path: Path) -> None:
    assert compiled_folder(HOME, tmp_path) == Path("/home/ada/.local/share/kernelindex/compiled")
    (tmp_path / "src" / "kernelindex").mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    assert compiled_folder(HOME, tmp_path) == tmp_path / ".ki" / "compiled"


def test_data_folder_follows_the_platform() -> None:
    assert data_folder({**HOME, "XDG_DATA_HOME": "/d"}, "linux") == Path("/d/kernelindex")
    mac = Path("/home/ada/Library/Application Support/kernelindex")
    assert data_folder(HOME, "darwin") == mac
    assert data_folder({**HOME, "LOCALAPPDATA": "/l"}, "win32") == Path("/l/kernelindex")
