"""A store of LangGraph whose items are Markdown files in the memory, where a person can read them and Kioku finds them.

    store = KiokuStore(Kioku())
    agent = create_react_agent(model, tools, store=store)
    store.put(("users", "mia"), "tea", {"text": "Mia drinks green tea."})
    store.search(("users",), query="What does Mia drink?")

An item is a file memory/store/NAMESPACE/.../KEY.md. The service has no call that replaces or deletes a note, so the store writes
these files itself, and only these: it has to run on the machine of the workspace. An item with index=False is a file that ends in
.json, which is not indexed. Items are what the program puts, word for word: passwords and keys are not looked for, nothing says who
wrote an item, and no copy of an older one is kept. What a model decides to remember belongs into the memory tools.
"""
from __future__ import annotations

import asyncio
import hashlib
import json
import os
import pathlib
import re
import uuid
from datetime import datetime, timezone
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, Result, SearchItem, SearchOp

from kioku_client import Kioku, clean

# Folder of the items, relative to the workspace.
_FOLDER = "memory/store"
_COMPARE: Dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda a, b: bool(a == b), "$ne": lambda a, b: bool(a != b), "$gt": lambda a, b: bool(a > b),
    "$gte": lambda a, b: bool(a >= b), "$lt": lambda a, b: bool(a < b), "$lte": lambda a, b: bool(a <= b),
}


class KiokuStore(BaseStore):
    """A store of items in the memory of an agent. Its search ranks as Kioku does, and has what was put before."""

    def __init__(self, kioku: Kioku) -> None:
        """Makes a store of the memory of a client."""
        self._kioku, self._changed = kioku, False
        workspace = pathlib.Path(kioku.status().workspace)
        if not workspace.is_dir():
            raise ValueError("the workspace %s is not on this machine, and items are files in it: run the store where kioku serve runs" % workspace)
        self._folder = workspace / _FOLDER

    def batch(self, ops: Iterable[Op]) -> List[Result]:
        """Executes operations in their order."""
        return [self._execute(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> List[Result]:
        """Executes operations in their order, in a thread."""
        return await asyncio.to_thread(self.batch, ops)

    def _execute(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return next((i for i in map(_read, self._files(op.namespace, op.key)) if i is not None), None)
        if isinstance(op, PutOp):
            self._put(op)
            return None
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        return self._ranked(op) if op.query else self._filtered(op)

    def _files(self, namespace: Tuple[str, ...], key: str) -> List[pathlib.Path]:
        """Returns the files that an item may be in."""
        folder = self._folder.joinpath(*map(_file_name, namespace))
        return [folder / (_file_name(key) + suffix) for suffix in (".md", ".json")]

    def _put(self, op: PutOp) -> None:
        self._changed = True
        markdown, plain = self._files(op.namespace, op.key)
        found = {path: text for path in (markdown, plain) if (text := _text(path)) is not None}
        before = next((item for item in map(_item, found.values()) if item is not None), None)
        if before is None and found:
            raise ValueError("%s is no item any more, somebody has changed it: move it elsewhere" % next(iter(found)))
        if op.value is not None:
            now = datetime.now(timezone.utc)
            item = Item(value=dict(op.value), key=op.key, namespace=op.namespace, created_at=before.created_at if before else now, updated_at=now)
            _write(plain if op.index is False else markdown, item)
        for stale in (markdown, plain) if op.value is None else (markdown,) if op.index is False else (plain,):
            stale.unlink(missing_ok=True)

    def _items(self, prefix: Tuple[str, ...]) -> Iterator[Item]:
        folder = self._folder.joinpath(*map(_file_name, prefix))
        for path in sorted(p for p in folder.rglob("*") if p.suffix in (".md", ".json")):
            item = _read(path)
            if item is not None:
                yield item

    def _filtered(self, op: SearchOp) -> List[SearchItem]:
        found = [_found(i, None) for i in self._items(op.namespace_prefix) if _matches(i.value, op.filter)]
        return found[op.offset:op.offset + op.limit]

    def _ranked(self, op: SearchOp) -> List[SearchItem]:
        if self._changed:
            self._kioku.sync()
            self._changed = False
        prefix = "/".join([_FOLDER, *map(_file_name, op.namespace_prefix), ""])
        hits = self._kioku.search(str(op.query), max_results=100, min_score=0, max_per_file=1, path_prefix=prefix).results
        found = []
        for hit in hits:
            item = _read(self._folder.parent.parent / hit.path)
            if item is not None and _matches(item.value, op.filter):
                found.append(_found(item, hit.score))
        return found[op.offset:op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> List[Tuple[str, ...]]:
        spaces = {i.namespace for i in self._items(()) if all(_fits(c, i.namespace) for c in op.match_conditions or ())}
        return sorted({s[:op.max_depth] for s in spaces})[op.offset:op.offset + op.limit]


def _file_name(name: str) -> str:
    """Returns a name as one of a file: what a path or Kioku reads in another way is escaped, and a long one ends in a hash."""
    safe = re.sub(r'^\.|[%/\\:*?"<>|\x00-\x1f]', lambda m: "%%%02X" % ord(m.group()), name)
    if len(safe.encode()) <= 200:
        return safe
    return safe.encode()[:160].decode(errors="ignore") + "-" + hashlib.sha256(name.encode()).hexdigest()[:16]


def _write(path: pathlib.Path, item: Item) -> None:
    """Replaces a file by one with an item."""
    head = {"namespace": list(item.namespace), "key": item.key, "created": item.created_at.isoformat(), "updated": item.updated_at.isoformat()}
    front = "".join("%s: %s\n" % (name, json.dumps(value, ensure_ascii=False)) for name, value in head.items())
    value = json.dumps(item.value, ensure_ascii=False, indent=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(".%s.part" % uuid.uuid4().hex)
    try:
        part.write_text(clean("---\n%s---\n```json\n%s\n```\n" % (front, value)), encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _read(path: pathlib.Path) -> Optional[Item]:
    """Returns the item in a file; None if there is none, or if a person has made something else of it."""
    return _item(_text(path) or "")


def _text(path: pathlib.Path) -> Optional[str]:
    """Returns the text of a file; None if there is no file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None


def _item(text: str) -> Optional[Item]:
    """Returns the item of a text; None if it is none."""
    try:
        _, front, body = text.split("---\n", 2)
        head = {name: json.loads(value) for name, _, value in (line.partition(": ") for line in front.rstrip("\n").split("\n"))}
        value = json.loads(body.partition("```json\n")[2].rpartition("\n```")[0])
        return Item(value=value, key=head["key"], namespace=tuple(head["namespace"]), created_at=head["created"], updated_at=head["updated"])
    except (ValueError, KeyError, TypeError):
        return None


def _found(item: Item, score: Optional[float]) -> SearchItem:
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def _matches(value: Dict[str, Any], conditions: Optional[Dict[str, Any]]) -> bool:
    """Reports whether the fields of a value meet all conditions. What cannot be compared does not meet one."""
    for name, wanted in (conditions or {}).items():
        tests = wanted if isinstance(wanted, dict) and any(k.startswith("$") for k in wanted) else {"$eq": wanted}
        for operator, operand in tests.items():
            if operator not in _COMPARE:
                raise ValueError("unsupported operator %s; use one of %s" % (operator, ", ".join(_COMPARE)))
            try:
                if not _COMPARE[operator](value.get(name), operand):
                    return False
            except TypeError:
                return False
    return True


def _fits(condition: MatchCondition, namespace: Tuple[str, ...]) -> bool:
    """Reports whether a namespace begins, or ends, as a condition says."""
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[:len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path):]
    return all(want in ("*", have) for want, have in zip(path, part))
