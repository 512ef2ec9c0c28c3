"""Types of repeated fields, for type checkers that do not know the packages of protobuf (types-protobuf)."""
from abc import ABCMeta
from typing import Any, MutableMapping, MutableSequence, TypeVar

K = TypeVar("K")
V = TypeVar("V")

class Scalars(MutableSequence[V], metaclass=ABCMeta):
    """A repeated field of texts or numbers."""

class Messages(MutableSequence[V], metaclass=ABCMeta):
    """A repeated field of messages."""

    def add(self, **fields: Any) -> V: ...

class ScalarMap(MutableMapping[K, V], metaclass=ABCMeta):
    """A map of texts or numbers."""
