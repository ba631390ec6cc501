import os

import pytest

from kernelindex.runner.tensor_file import DTYPES, TensorFileError, read_header, read_tensors

torch = pytest.importorskip("torch", reason="tensor files hold tensors: torch is not installed")

from kernelindex.runner.tensor_file import write_tensors  # noqa: E402


def sample() -> dict:
    made = {
        name: torch.arange(6).reshape(2, 3).to(getattr(torch, kind))
        for name, (kind, _) in DTYPES.items()
    }
    return made | {
        "empty": torch.empty(0, 4),
        "scalar": torch.tensor(2.5),
        "strided": torch.arange(12.0).reshape(3, 4).t()[1:],
    }


@pytest.mark.parametrize("mapped", [False, True])
def test_tensors_come_back_bit_for_bit(tmp_path, mapped) -> None:
    given = sample()
    write_tensors(tmp_path / "t", given, {"draw": "own"})
    found = read_tensors(tmp_path / "t", mapped=mapped)

    assert list(found) == list(given)
    for name, one in given.items():
        assert (found[name].dtype, found[name].shape) == (one.dtype, one.shape)
        bits = [x.contiguous().flatten().view(torch.uint8) for x in (one, found[name])]
        assert torch.equal(*bits)
    assert read_header(tmp_path / "t").meta == {"draw": "own"}


def test_writing_to_a_mapped_tensor_leaves_the_file_alone(tmp_path) -> None:
    write_tensors(tmp_path / "t", {"x": torch.ones(3)})
    read_tensors(tmp_path / "t", mapped=True)["x"].zero_()

    assert read_tensors(tmp_path / "t")["x"].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"bytes": 12', b'"bytes": 16'),
        (b'"shape": [3]', b'"shape": [9]'),
        (b'"shape": [3]', b'"shape": [-3]'),
        (b'"offset": 65536', b'"offset": 65537000'),
        (b'"dtype": "fp32"', b'"dtype": "what"'),
        (b"KITENSOR1", b"NOTENSOR1"),
        (b'{"tensors"', b'["tensors"'),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path, old, new) -> None:
    write_tensors(tmp_path / "t", {"x": torch.ones(3)})
    data = (tmp_path / "t").read_bytes()
    assert old in data
    if len(new) > len(old):
        data = data.replace(old, new, 1)
        grown = int.from_bytes(data[10:18], "little") + len(new) - len(old)
        data = data[:10] + grown.to_bytes(8, "little") + data[18:]
    else:
        data = data.replace(old, new, 1)
    (tmp_path / "t").write_bytes(data)

    with pytest.raises(TensorFileError):
        read_tensors(tmp_path / "t")


def test_a_file_cut_short_is_refused(tmp_path) -> None:
    write_tensors(tmp_path / "t", {"x": torch.ones(100)})
    os.truncate(tmp_path / "t", 65536 + 100)

    with pytest.raises(TensorFileError, match="ends at"):
        read_tensors(tmp_path / "t")


def test_links_and_pipes_are_not_followed(tmp_path) -> None:
    write_tensors(tmp_path / "t", {"x": torch.ones(1)})
    (tmp_path / "link").symlink_to(tmp_path / "t")
    os.mkfifo(tmp_path / "pipe")

    for name in ("link", "pipe"):
        with pytest.raises(TensorFileError, match=name):
            read_tensors(tmp_path / name)


def test_more_bytes_than_allowed_are_not_read(tmp_path) -> None:
    write_tensors(tmp_path / "t", {"x": torch.ones(100)})

    with pytest.raises(TensorFileError, match="at most 399"):
        read_tensors(tmp_path / "t", limit_bytes=399)


def test_a_dtype_without_file_form_is_refused(tmp_path) -> None:
    with pytest.raises(TensorFileError, match="complex64"):
        write_tensors(tmp_path / "t", {"x": torch.ones(1, dtype=torch.complex64)})
