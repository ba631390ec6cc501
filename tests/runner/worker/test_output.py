import os

from kernelindex.runner.worker.output import Output


def printed(*parts: bytes) -> Output:
    read, write = os.pipe()
    output = Output(read)
    for part in parts:
        os.write(write, part)
    os.close(write)
    output.finish(5.0)
    return output


def test_little_is_kept_whole() -> None:
    output = printed(b"hello\n", b"w\xff\n")

    assert output.text() == "hello\nw\ufffd"
    assert output.discarded == 0


def test_of_much_the_beginning_and_the_end_are_kept_and_the_rest_counted() -> None:
    output = printed(*[b"x" * 65536] * 64, b"the end")

    assert output.text(7) == "the end"
    assert 64 * 65536 + 7 - (1 << 20) - 65536 <= output.discarded <= 64 * 65536 + 7 - (1 << 20)
