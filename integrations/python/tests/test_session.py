"""Tests of sessions and tools against a daemon."""
import asyncio
import json
import unittest
from typing import List

import kioku_client
from kioku_client._messages import identify
from kioku_client import Answer, AsyncSession, Author, ChatMessage, Kioku, Question, Session, TooLong, ToolCall, memory_tools

from tests.conversation import CONVERSATION, FACTS, ScriptedModel, said
from tests.daemon import DaemonTest


class TestConversation(DaemonTest):
    """A conversation of 200 turns with 24 facts in three languages, two restarts and an early end recalls 24 of 24."""

    def test_all_facts_are_recalled_through_the_python_client(self) -> None:
        model = ScriptedModel()
        session = Session(self.kioku, "conversation", ask=model.ask, window_tokens=8000, channel="terminal")
        messages: List[ChatMessage] = []
        for turn in range(1, CONVERSATION["turns"] + 1):
            messages.append(ChatMessage(role="user", text=said(turn)))
            todo = session.before(messages)
            self.assertTrue(todo.messages[-1].text.startswith(said(turn)))
            answer = Answer("That is %d. %s" % (turn, "I think about it. " * 8))
            messages.append(answer.message)
            session.after(answer)
            if turn in CONVERSATION["restarts_after"]:
                self.daemon.kill()
                self.daemon.start()
                session = Session(self.kioku, "conversation", ask=model.ask, window_tokens=8000, channel="terminal")
        self.assertGreater(todo.keep, 100)
        self.assertGreater(model.summaries, 2)
        self.assertIn(session.end().outcome, ("done", "skipped"))

        self.kioku.sync()
        missing = [f["ask"] for f in FACTS if not self.recalled(f["ask"], f["answer"])]
        self.assertEqual(missing, [], self.daemon.notes())

    def recalled(self, ask: str, answer: str) -> bool:
        """Reports whether the answer is in what the model is sent in a new session."""
        todo = Session(self.kioku, "new " + ask, channel="terminal").before([ChatMessage(role="user", text=ask)])
        return answer in "\n".join([todo.system, *(m.text for m in todo.messages)])


class TestTools(DaemonTest):
    """The tools are those of the service, so that the client checks no arguments and knows no aliases."""

    def test_tools_are_defined_and_run_by_the_service(self) -> None:
        tools = {tool.name: tool for tool in memory_tools(self.kioku, channel="terminal")}
        self.assertLessEqual({"memory_search", "memory_get", "memory_append"}, set(tools))
        self.assertEqual(tools["memory_search"].input_schema["required"], ["query"])
        noted = tools["memory_append"]({"text": "Jonas arrives on 2026-03-09."})
        self.assertFalse(noted.failed, noted.output)
        self.kioku.sync()
        found = tools["memory_search"](json.dumps({"query": "When does Jonas arrive?"}))
        self.assertIn("2026-03-09", found.output)

    def test_a_group_has_fewer_tools_and_not_the_notes_of_the_owner(self) -> None:
        mine = {tool.name for tool in memory_tools(self.kioku, channel="terminal")}
        theirs = {tool.name for tool in memory_tools(self.kioku, channel="discord:general", group=True)}
        self.assertLess(theirs, mine)
        self.kioku.append("The code of the alarm is Nightingale.", target="long_term")
        self.kioku.sync()
        stranger = Author(id="7", name="Zoë")
        asked = [ChatMessage(role="user", text="What is the code of the alarm?", author=stranger)]
        turn = Session(self.kioku, "group", channel="discord:general", group=True).before(asked)
        self.assertNotIn("Nightingale", turn.system + turn.turn_block)
        asked[0].ClearField("author")
        turn = Session(self.kioku, "alone", channel="terminal").before(asked)
        self.assertIn("Nightingale", turn.system + turn.turn_block)

    def test_a_mistake_of_the_model_is_told_to_the_model(self) -> None:
        search = memory_tools(self.kioku, channel="terminal")[0]
        for wrong in ("{", {"query": 7}, {}):
            with self.subTest(wrong):
                done = search(wrong)
                self.assertTrue(done.failed)
                self.assertNotEqual(done.output, "")

    def test_a_note_after_the_result_of_a_tool_is_marked(self) -> None:
        tools = memory_tools(self.kioku, channel="terminal")
        session = Session(self.kioku, "sources", channel="terminal")
        messages = [ChatMessage(role="user", text="What is the news?")]
        for name, given, source in [("memory_append", {"text": "Ken asked for the news."}, "agent"), ("fetch", {}, "agent"),
                                    ("memory_append", {"text": "The bridge is closed."}, "tool")]:
            session.before(messages)
            self.assertEqual(session.source, source)
            answer = Answer("", [ToolCall(id="c%d" % len(messages), name=name, input=json.dumps(given))])
            session.after(answer)
            messages += [answer.message, *session.run_tools(tools, answer)]
        self.assertTrue(messages[4].failed, "there is no tool fetch")
        self.assertRegex(self.daemon.notes(), r"Ken asked for the news\. <!-- kioku[^>]*from=agent")
        self.assertRegex(self.daemon.notes(), r"The bridge is closed\. <!-- kioku[^>]*from=tool")

    def test_a_service_that_is_away_is_told_to_the_model(self) -> None:
        search = memory_tools(self.kioku, channel="terminal")[0]
        with Kioku("unix:/nowhere/kioku.sock") as away:
            done = kioku_client.MemoryTool(search.name, search.description, search.input_schema, away)({"query": "tea"})
        self.assertTrue(done.failed)
        self.assertIn("kioku serve", done.output)


class TestSession(DaemonTest):
    """What a session does at the edges of its model and its service."""

    def test_an_end_without_a_model_keeps_the_messages_until_there_is_one(self) -> None:
        messages = [ChatMessage(role="user", text="The spare key hangs behind the blue barometer.")]
        first = Session(self.kioku, "early", channel="terminal")
        first.before(messages)
        first.after(Answer("Good."))
        self.assertEqual(first.end().outcome, "kept")
        later = Session(self.kioku, "early", ask=self.store_everything, channel="terminal")
        self.assertEqual(len(later.flush([])), 1)
        self.assertIn("blue barometer", self.daemon.notes())

    def test_a_range_that_is_too_long_is_halved(self) -> None:
        lengths: List[int] = []

        def ask(question: Question) -> Answer:
            lengths.append(len(question.messages))
            if len(question.messages) > 6:
                raise TooLong()
            return Answer("NO_REPLY")

        messages = [ChatMessage(role=("user", "assistant")[i % 2], text="%d. %s" % (i, "What do you think? " * 40)) for i in range(12)]
        session = Session(self.kioku, "long", ask=ask, channel="terminal")
        session.flush(messages)
        self.assertGreater(lengths[0], 6)
        self.assertEqual(session.flush(messages), [])

    def test_the_own_model_can_be_asked_in_the_loop_of_the_caller(self) -> None:
        async def talk() -> "tuple[str, int]":
            async def ask(question: Question) -> Answer:
                await asyncio.sleep(0)
                return self.store_everything(question)

            session = AsyncSession(self.kioku, "async", ask=ask, channel="terminal")
            turn = await session.before([ChatMessage(role="user", text="My train leaves from platform 9.")])
            return turn.system, len(await session.flush())

        system, notes = asyncio.run(talk())
        self.assertIn("memory_search", system)
        self.assertEqual(notes, 1)

    def test_the_system_prompt_is_constant_and_the_turn_block_is_not_stored(self) -> None:
        self.kioku.append("Mia drinks green tea.")
        self.kioku.sync()
        session = Session(self.kioku, "constant", channel="terminal")
        messages = [ChatMessage(role="user", text="What does Mia drink?")]
        first = session.before(messages)
        messages += [ChatMessage(role="assistant", text="Green tea."), ChatMessage(role="user", text="And in the evening?")]
        second = session.before(messages)
        self.assertEqual(first.system, second.system)
        self.assertIn("green tea", first.turn_block)
        self.assertIn("green tea", first.messages[-1].text)
        self.assertEqual(second.messages[0].text, messages[0].text)
        self.assertNotIn("green tea", second.system)

    def test_without_a_service_a_turn_says_what_to_do(self) -> None:
        with Kioku("unix:/nowhere/kioku.sock") as away, self.assertLogs("kioku_client", "WARNING"):
            with self.assertRaisesRegex(kioku_client.Unreachable, "kioku serve"):
                Session(away, "away").before([ChatMessage(role="user", text="Hello?")])

    def store_everything(self, question: Question) -> Answer:
        """Stands for a model that stores each message of the user."""
        if question.messages[-1].role == "tool":
            return Answer("NO_REPLY")
        told = [m.text for m in question.messages[:-1] if m.role == "user"]
        return Answer("", [ToolCall(id="c%d" % i, name=question.tools[0].name, input=json.dumps({"text": t})) for i, t in enumerate(told)])


class TestIdentify(unittest.TestCase):
    """A message without an id has the same one in the next process, and another one than its equals."""

    def test_ids_are_unique_and_stay(self) -> None:
        said = [ChatMessage(role=r, text=t) for r, t in (("user", "yes"), ("assistant", "ok"), ("user", "yes"), ("assistant", "ok"))]
        all_at_once = [m.id for m in identify(said)]
        one_by_one: List[ChatMessage] = []
        for message in said:
            one_by_one = identify([*one_by_one, message])
        self.assertEqual([m.id for m in one_by_one], all_at_once)
        self.assertEqual(len(set(all_at_once)), 4)
        self.assertEqual(identify([ChatMessage(id="x", role="user", text="yes")])[0].id, "x")


class TestWire(DaemonTest):
    """Messages are sent once and named by their ids after that."""

    def test_a_conversation_costs_what_is_new(self) -> None:
        sizes: List[int] = []
        session = Session(self.kioku, "bytes", channel="terminal")
        check = self.kioku.agents.CheckFlush

        def counted(request: object, timeout: object = None) -> object:
            sizes.append(request.ByteSize())  # type: ignore[attr-defined]
            return check(request)  # type: ignore[arg-type]

        self.kioku.agents.CheckFlush = counted  # type: ignore[method-assign, assignment]
        self.addCleanup(setattr, self.kioku.agents, "CheckFlush", check)
        messages: List[ChatMessage] = []
        for turn in range(40):
            messages.append(ChatMessage(role="user", text="%d. %s" % (turn, "lorem ipsum " * 40)))
            session.before(messages)
            answer = Answer("So it is, %d." % turn)
            messages.append(answer.message)
            session.after(answer)
            if turn == 20:
                self.daemon.kill()
                self.daemon.start()
        self.assertLess(sizes[-1], 2 * sizes[0], sizes)
        self.assertGreater(max(sizes), 5 * sizes[0], "after a restart all is sent once")


if __name__ == "__main__":
    unittest.main()
