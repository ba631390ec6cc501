"""What every process is told first is what ``channel`` says of it, and is read."""

import inspect
import re
from dataclasses import fields
from types import SimpleNamespace

from kernelindex.runner import channel
from kernelindex.runner.plan import Rules
from kernelindex.runner.probe.commands import Commands
from kernelindex.runner.worker.bench import Bench


def test_hello_has_the_fields_that_the_channel_names_and_the_probe_reads() -> None:
    bench = SimpleNamespace(plan=SimpleNamespace(device="cpu"), rules=Rules())
    told = Bench.hello(bench)

    said = re.search(r"^  hello \{(.*?)\}$", str(channel.__doc__), re.MULTILINE)
    assert said is not None
    named = [one.partition(":")[0].strip() for one in re.sub(r"<.*?>", "", said[1]).split(",")]
    assert named == list(told)
    read = re.findall(r'request(?:\.get\(|\[)"(\w+)"', inspect.getsource(Commands.hello))
    assert sorted(read) == sorted(told)
    assert set(told["protocol"]) == {one.name for one in fields(Rules)}
