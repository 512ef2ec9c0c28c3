"""Tests of the adapters for LangGraph, with the real package, a daemon and a scripted model."""
import asyncio
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, List, Sequence

from tests import scripted
from tests.daemon import DaemonTest

try:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.prebuilt import create_react_agent

    from langgraph.store.base import PutOp
    from pydantic import PrivateAttr

    from kioku_client.adapters.langgraph import KiokuMemory, ask_with
    from kioku_client.adapters.langgraph_store import KiokuStore
except ImportError as e:
    raise unittest.SkipTest("LangGraph: not tested, %s: pip install langgraph" % e)

ROLES = {"human": "user", "ai": "assistant", "tool": "tool"}


class ScriptedChat(BaseChatModel):
    """The scripted model as one of LangChain."""

    names: List[str] = []
    _asked: List[str] = PrivateAttr(default_factory=list)

    @property
    def asked(self) -> List[str]:
        """The texts of each request."""
        return self._asked

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "ScriptedChat":
        names = [t["name"] if isinstance(t, dict) else t.name for t in tools]
        bound = ScriptedChat(names=names)
        bound._asked = self._asked
        return bound

    def _generate(self, messages: List[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self._asked.append("\n".join(m.text for m in messages))
        said = [(ROLES[m.type], str(m.text)) for m in messages if m.type in ROLES]
        text, calls = scripted.reply(said, self.names)
        made = [{"id": "c%d.%d" % (len(said), i), "name": c["name"], "args": c["input"]} for i, c in enumerate(calls)]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text, tool_calls=made))])


class TestLangGraph(DaemonTest):
    """A graph recalls before its model, stores by its tools, and loses nothing when its window is full or it ends early."""

    def agent(self, model: ScriptedChat, memory: "KiokuMemory") -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # create_react_agent is deprecated in favour of a package that is not needed here
            return create_react_agent(model, memory.tools(), pre_model_hook=memory.pre_model_hook, checkpointer=InMemorySaver())

    def talk(self, agent: Any, thread: str, *lines: str) -> str:
        for line in lines:
            state = agent.invoke({"messages": [("user", line)]}, {"configurable": {"thread_id": thread}})
        return str(state["messages"][-1].text)

    def test_the_graph_stores_by_its_tool_and_recalls_in_the_next_thread(self) -> None:
        model = ScriptedChat()
        memory = KiokuMemory(self.kioku, channel="terminal")
        agent = self.agent(model, memory)
        self.assertEqual(self.talk(agent, "first", "remember The cellar key is under the third stone."), "Done.")
        self.kioku.sync()
        model.asked.clear()
        self.talk(agent, "second", "Where is the cellar key?")
        self.assertIn("third stone", model.asked[0])

        async def again() -> Any:
            return await agent.ainvoke({"messages": [("user", "Where is the cellar key?")]}, {"configurable": {"thread_id": "third"}})

        asyncio.run(again())
        self.assertIn("third stone", model.asked[-1])

    def test_the_model_of_the_graph_stores_what_leaves_its_window_and_what_an_end_cuts_off(self) -> None:
        model = ScriptedChat()
        memory = KiokuMemory(self.kioku, channel="terminal", window_tokens=6000, ask=ask_with(ScriptedChat()))
        agent = self.agent(model, memory)
        lines = ["%d. And what about this? %s" % (i, "lorem ipsum dolor " * 60) for i in range(40)]
        self.talk(agent, "window", "My train leaves from platform 9.", *lines)
        self.assertIn("platform 9", self.daemon.notes())
        self.assertLess(max(map(len, model.asked)), 60_000)
        self.talk(agent, "window", "My brother is called Jonas.")
        memory.end("window")
        self.assertIn("Jonas", self.daemon.notes())

    def test_the_sessions_of_many_threads_take_no_memory_for_ever(self) -> None:
        memory = KiokuMemory(self.kioku, channel="terminal")
        for i in range(300):
            memory._session(str(i))
        self.assertEqual((len(memory._sessions), "0" in memory._sessions, "299" in memory._sessions), (256, False, True))
        memory.end("299")
        self.assertNotIn("299", memory._sessions)
        with self.assertRaisesRegex(ValueError, "thread_id"):
            memory.pre_model_hook.invoke({"messages": []})


class TestStore(DaemonTest):
    """The store keeps the promises of BaseStore, with items that are files of the memory."""

    def setUp(self) -> None:
        self.store = KiokuStore(self.kioku)
        for namespace in self.store.list_namespaces():
            for item in self.store.search(namespace, limit=1000):
                self.store.delete(item.namespace, item.key)

    def test_items_are_put_replaced_and_deleted(self) -> None:
        space = ("users", "美亜/x%")
        for key in ("tea", "a/b", "../up", ".hidden", "長" * 300, "緑茶", "a\u2028b\x85c\x1ed"):
            with self.subTest(key):
                self.store.put(space, key, {"text": "one ``` --- \n", "n": [1, {"x": None}]})
                first = self.store.get(space, key)
                self.store.put(space, key, {"text": "two"})
                second = self.store.get(space, key)
                self.assertEqual((first.value, second.value), ({"text": "one ``` --- \n", "n": [1, {"x": None}]}, {"text": "two"}))
                self.assertEqual((second.key, second.namespace, second.created_at), (key, space, first.created_at))
                self.assertGreater(second.updated_at, first.updated_at)
                self.store.delete(space, key)
                self.assertIsNone(self.store.get(space, key))
        self.assertEqual([f for f in self.daemon.workspace.rglob("*") if f.is_file() and "store" not in f.parts], [])

    def test_a_search_finds_what_was_just_put_in_its_namespace(self) -> None:
        self.store.put(("users", "mia"), "tea", {"text": "Mia drinks green tea in the morning."})
        self.store.put(("users", "mia"), "cat", {"text": "The cat is called Miso."})
        self.store.put(("users2",), "tea", {"text": "Ken drinks green tea too."})
        self.store.put(("users", "mia"), "hidden", {"text": "Mia drinks green tea secretly."}, index=False)
        found = self.store.search(("users",), query="Who drinks green tea?")
        self.assertEqual(found[0].key, "tea")
        self.assertGreater(found[0].score, 0)
        self.assertEqual({i.namespace for i in found}, {("users", "mia")})
        self.assertNotIn("hidden", [i.key for i in found])
        self.assertIsNotNone(self.store.get(("users", "mia"), "hidden"))

    def test_a_filter_compares_fields(self) -> None:
        for n in range(4):
            self.store.put(("n",), str(n), {"n": n, "kind": "even" if n % 2 == 0 else "odd"})
        for wanted, keys in [({"n": 2}, ["2"]), ({"n": {"$gte": 2}}, ["2", "3"]), ({"kind": "odd", "n": {"$ne": 1}}, ["3"]), ({"x": {"$gt": 1}}, []),
                             ({"kind": {"$gt": 1}}, [])]:
            with self.subTest(wanted):
                self.assertEqual([i.key for i in self.store.search(("n",), filter=wanted)], keys)
        self.assertEqual([i.key for i in self.store.search(("n",), limit=2, offset=1)], ["1", "2"])
        with self.assertRaisesRegex(ValueError, "unsupported operator"):
            self.store.search(("n",), filter={"n": {"$in": [1]}})

    def test_items_are_put_at_once(self) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: self.store.put(("p",), "same", {"n": n, "text": "cut \ud83d"}), range(40)))
        item = self.store.get(("p",), "same")
        self.assertIn(item.value["n"], range(40))
        self.assertEqual(item.value["text"], "cut \ufffd")
        self.assertEqual([f.name for f in self.daemon.workspace.rglob("*") if f.suffix == ".part"], [])

    def test_namespaces_are_listed(self) -> None:
        for space in (("a", "b", "c"), ("a", "x"), ("d",)):
            self.store.put(space, "k", {"v": 1})
        self.assertEqual(self.store.list_namespaces(), [("a", "b", "c"), ("a", "x"), ("d",)])
        self.assertEqual(self.store.list_namespaces(prefix=("a",), max_depth=2), [("a", "b"), ("a", "x")])
        self.assertEqual(self.store.list_namespaces(suffix=("*", "c")), [("a", "b", "c")])

    def test_what_a_person_has_made_of_a_file_is_no_item(self) -> None:
        self.store.put(("users",), "tea", {"text": "green"})
        file = next(self.daemon.workspace.rglob("tea.md"))
        file.write_text("# Tea\n\nMy own words.\n")
        self.assertIsNone(self.store.get(("users",), "tea"))
        self.assertEqual(self.store.search(("users",)), [])
        for change in ({"text": "black"}, None):
            with self.assertRaisesRegex(ValueError, "move it"):
                self.store.batch([PutOp(("users",), "tea", change)])
        self.assertEqual(file.read_text(), "# Tea\n\nMy own words.\n")
        file.unlink()


if __name__ == "__main__":
    unittest.main()
