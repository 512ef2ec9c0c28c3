"""Generates the stubs in kioku_client/v1 from the protos of the repository: python3 generate.py (make integrations-proto does so too).

It needs protoc 3.21 and its Python package, which Debian 12 has (protobuf-compiler, python3-protobuf): stubs of an older protoc
work with newer packages, but not the other way round. The options for HTTP are left out, so that the client needs no package
of Google's APIs, and the files are named after this package, so that they do not clash with other stubs of the same protos.
"""
import pathlib
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

HERE = pathlib.Path(__file__).resolve().parent
PROTOS = HERE.parent.parent / "proto"
NAMES = ("agent", "memory", "unit")


def descriptors() -> descriptor_pb2.FileDescriptorSet:
    """Returns the protos of the repository as the client has them."""
    with tempfile.NamedTemporaryFile() as out:
        files = ["kioku/v1/%s.proto" % name for name in NAMES]
        subprocess.run(["protoc", "-I", PROTOS, "--include_imports", "--descriptor_set_out", out.name, *files], check=True)
        found = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes())
    kept = [f for f in found.file if not f.name.startswith("google/api/") and f.name != "google/protobuf/descriptor.proto"]
    for file in kept:
        if file.package == "kioku.v1":
            rename(file)
    return descriptor_pb2.FileDescriptorSet(file=kept)


def rename(file: descriptor_pb2.FileDescriptorProto) -> None:
    """Names a file after this package, and takes out the options for HTTP and for Go."""
    file.name = file.name.replace("kioku/v1/", "kioku_client/v1/")
    needed = [d.replace("kioku/v1/", "kioku_client/v1/") for d in file.dependency if not d.startswith("google/api/")]
    file.dependency[:] = needed
    file.ClearField("options")
    for service in file.service:
        for method in service.method:
            method.ClearField("options")


def services(files: descriptor_pb2.FileDescriptorSet) -> str:
    """Returns the source of services.py: a class for each service with a typed method for each call."""
    lines = [
        '"""The calls of the services, with types. Made by generate.py; do not edit."""',
        "from __future__ import annotations",
        "",
        "from typing import Iterator, Optional",
        "",
        "from kioku_client._calls import Calls",
        "from kioku_client.v1 import %s" % ", ".join("%s_pb2" % name for name in NAMES),
    ]
    for file in files.file:
        for service in file.service:
            lines += ["", "", "class %s:" % service.name, '    """The calls of %s.%s; proto/%s documents them."""'
                      % (file.package, service.name, file.name.replace("kioku_client/", "kioku/")), "",
                      "    def __init__(self, calls: Calls) -> None:", "        self._calls = calls"]
            for method in service.method:
                lines += [""] + call("/%s.%s/%s" % (file.package, service.name, method.name), method)
    return "\n".join(lines) + "\n"


def call(path: str, method: descriptor_pb2.MethodDescriptorProto) -> "list[str]":
    """Returns the lines of one method."""
    request, response = module(method.input_type), module(method.output_type)
    kind, returned = ("stream", "Iterator[%s]" % response) if method.server_streaming else ("unary", response)
    return [
        "    def %s(self, request: %s, timeout: Optional[float] = None) -> %s:" % (method.name, request, returned),
        '        """Calls %s."""' % path[1:],
        '        return self._calls.%s("%s", request, %s, timeout)' % (kind, path, response),
    ]


def module(message: str) -> str:
    """Returns the Python name of a message such as .kioku.v1.ChatMessage."""
    name = message.rpartition(".")[2]
    for file in FILES.file:
        if any(m.name == name for m in file.message_type) and file.package == "kioku.v1":
            return "%s_pb2.%s" % (pathlib.PurePosixPath(file.name).stem, name)
    raise ValueError("no file has %s" % message)


def generate(out: pathlib.Path) -> None:
    """Writes the stubs into a folder."""
    with tempfile.NamedTemporaryFile() as described:
        pathlib.Path(described.name).write_bytes(FILES.SerializeToString())
        files = ["kioku_client/v1/%s.proto" % name for name in NAMES]
        both = ["--python_out=%s" % out, "--pyi_out=%s" % out]
        subprocess.run(["protoc", "--descriptor_set_in=%s" % described.name, *both, *files], check=True)
        subprocess.run(["protoc", "-I", HERE, *both, "kioku_client/v1/status.proto"], check=True)
    for types in out.glob("kioku_client/v1/*_pb2.pyi"):
        text = types.read_text().replace("_Mapping]", "_Mapping[str, _Any]]").replace("from typing import ", "from typing import Any as _Any, ", 1)
        text = text.replace("__slots__ = []", "__slots__: list[str] = []").replace(": bool = ...", ": _Optional[bool] = ...")
        text = text.replace("_containers.RepeatedCompositeFieldContainer[", "_containers.Messages[").replace("_containers.RepeatedScalarFieldContainer[", "_containers.Scalars[")
        types.write_text(text.replace("from google.protobuf.internal import containers as _containers", "from kioku_client.v1 import _containers"))
    (out / "kioku_client/v1/services.py").write_text(services(FILES))


if __name__ == "__main__":
    FILES = descriptors()
    generate(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
