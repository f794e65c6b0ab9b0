"""Compiles protos for programs that read what they describe."""

import tempfile
from pathlib import Path
from typing import Final

import grpc_tools
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

__all__ = ["compile_protos"]

# What the store alone reads: its own migrations keep it.
PRIVATE_PROTOS: Final = ("academy/store/",)


def compile_protos(folder: Path, *options: str) -> FileDescriptorSet:
    """Compile all public protos of a folder. Raises ValueError where protoc refuses them."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.proto"))
    public = [name for name in names if not name.startswith(PRIVATE_PROTOS)]
    include = Path(grpc_tools.__file__).parent / "_proto"
    with tempfile.NamedTemporaryFile() as output:
        if protoc.main(["protoc", f"-I{folder}", f"-I{include}", f"-o{output.name}", *options, *public]):
            raise ValueError(f"protoc refuses the protos in {folder}")
        return FileDescriptorSet.FromString(Path(output.name).read_bytes())
