"""Tests of sessions and tools against a daemon."""
import asyncio
import json
import unittest
from typing import List

import kioku_client
from kioku_client import _sent
from kioku_client._messages import identify
from kioku_client.records import write
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
        asked[0].author = None
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
        away = Kioku("unix:/nowhere/kioku.sock")
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

    def test_a_flush_knows_the_channel_and_who_spoke(self) -> None:
        messages = [ChatMessage(role="user", text="My boat is called Isbjørn.", author=Author(id="7", name="Zoë")), ChatMessage(role="assistant", text="Nice."),
                    ChatMessage(role="user", text="Mine is called Havørn.")]
        Session(self.kioku, "harbour", channel="discord:harbour", group=True).end(messages)
        asked: List[str] = []

        def ask(question: Question) -> Answer:
            asked.append("\n".join([question.system, *(m.text for m in question.messages)]))
            return self.store_everything(question)

        Session(self.kioku, "harbour", ask=ask, channel="discord:harbour", group=True).flush([])
        self.assertIn("[Zoë] My boat", asked[0])
        self.assertIn("[unknown] Mine", asked[0])
        self.assertRegex(self.daemon.notes(), "(?s)Isbjørn.*<!-- kioku[^>]*channel=discord:harbour")
        self.assertEqual(messages[0].channel, "", "the messages of the caller stay as they are")

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

    def test_a_conversation_goes_on_while_the_service_is_away(self) -> None:
        messages = [ChatMessage(role="user", text="Hello?")]
        session = Session(self.kioku, "away", channel="terminal")
        first = session.before(messages)
        self.assertIn("memory_search", first.system)
        messages += [ChatMessage(role="assistant", text="Yes."), ChatMessage(role="user", text="Are you there?")]
        self.daemon.kill()
        try:
            with self.assertLogs("kioku_client", "WARNING") as told:
                second = session.before(messages)
        finally:
            self.daemon.start()
        self.assertIn("run kioku serve", told.output[0])
        self.assertEqual((second.system, second.turn_block, second.question), (first.system, "", 2))
        self.assertEqual([m.text for m in second.messages], [m.text for m in messages])
        self.assertNotEqual(session.before(messages).turn_block, "", "the next request of the turn has it again")

    def test_an_own_model_that_fails_loses_no_turn_and_no_end(self) -> None:
        def broken(question: Question) -> Answer:
            raise OSError("the model is away")

        session = Session(self.kioku, "broken model", ask=broken, channel="terminal")
        with self.assertLogs("kioku_client", "WARNING"):
            session.before([ChatMessage(role="user", text="The ladder is in the orangery.")], forced=True)
            self.assertEqual(session.end().outcome, "kept")

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


class TestSentMessages(DaemonTest):
    """Messages are sent once and named by their ids after that."""

    def test_a_conversation_costs_what_is_new(self) -> None:
        sizes: List[int] = []
        session = Session(self.kioku, "bytes", channel="terminal")
        call = self.kioku.call

        def counted(route: str, fields: "dict[str, object]" = {}, timeout: object = None) -> "dict[str, object]":
            if route == "POST /v1/flush:check":
                sizes.append(len(json.dumps(write(fields["messages"]))))
            return call(route, fields, timeout)  # type: ignore[arg-type]

        self.kioku.call = counted  # type: ignore[method-assign, assignment]
        self.addCleanup(setattr, self.kioku, "call", call)
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


class TestLarge(DaemonTest):
    """A conversation loses nothing because a message, or all of it, is larger than what the service takes in one request."""

    def test_a_long_message_has_a_prompt_and_memories(self) -> None:
        self.kioku.append("The heron nests at the weir.")
        self.kioku.sync()
        for text in ("Where does the heron nest? " + "hello " * 17_000, "hello " * 17_000 + "Where does the heron nest?"):
            with self.subTest(text[:10]), self.assertNoLogs("kioku_client", "WARNING"):
                turn = Session(self.kioku, "pasted " + text[:10], channel="terminal").before([ChatMessage(role="user", text=text)])
                self.assertIn("memory_search", turn.system)
                self.assertIn("weir", turn.turn_block)
                self.assertTrue(turn.messages[0].text.startswith(text), "the model gets all of it")
        with self.assertLogs("kioku_client", "WARNING") as told:
            turn = Session(self.kioku, "too long", channel="terminal").before([ChatMessage(role="user", text="é" * (3 << 20))])
        self.assertIn("memory_search", turn.system)
        self.assertEqual(len(told.output), 1, told.output)
        self.assertIn("of which at most 3145728 are sent", told.output[0])

    def test_a_history_of_more_than_a_request_goes_on(self) -> None:
        messages = [ChatMessage(role=("user", "assistant")[i % 2], text="%d. %s" % (i, "lorem ipsum " * 33_000)) for i in range(20)]
        messages.append(ChatMessage(role="user", text="And now?"))
        with self.assertNoLogs("kioku_client", "WARNING"):
            turn = Session(self.kioku, "history", channel="terminal").before(messages)
        self.assertIn("memory_search", turn.system)

    def test_an_end_loses_nothing_of_a_large_conversation(self) -> None:
        for own in (False, True):
            with self.subTest(own_model=own):
                facts: List[str] = []
                messages: List[ChatMessage] = []
                for i in range(9):
                    facts.append("The code of hut %d is owl-%d-%s." % (i, i, own))
                    messages.append(ChatMessage(role="user", text="%s\n%s" % (facts[-1], "lorem ipsum " * (50_000 if i != 4 else 200_000))))
                    messages.append(ChatMessage(role="assistant", text="Good."))
                shown: List[str] = []

                def ask(question: Question) -> Answer:
                    shown.extend(f for f in facts for m in question.messages if f in m.text)
                    return Answer("NO_REPLY")

                name = "large %s" % own
                done = Session(self.kioku, name, ask=ask if own else None, window_tokens=500_000, channel="terminal").end(messages)
                if own:
                    self.assertIn(done.outcome, ("done", "skipped"))
                else:
                    self.assertEqual(done.outcome, "kept")
                    Session(self.kioku, name, ask=ask, window_tokens=500_000, channel="terminal").flush([])
                self.assertEqual(sorted(set(shown)), facts)

    def test_what_no_request_takes_is_refused_with_what_to_do(self) -> None:
        with self.assertRaisesRegex(kioku_client.InvalidRequest, "5000.* bytes, and the service takes at most 4194304: divide"):
            self.kioku.append("a" * 5_000_000)
        self.assertFalse(self.kioku.append("The client works on.").deduplicated)

    def test_a_cut_character_is_no_error(self) -> None:
        half = "Miso \ud83d sleeps"
        self.assertFalse(self.kioku.append(half).deduplicated)
        self.assertIn("Miso \ufffd sleeps", self.daemon.notes())
        self.kioku.recall(half, channel="terminal")
        self.assertTrue(memory_tools(self.kioku, channel="terminal")[0]({"query": half}).output)
        self.assertEqual(Answer(half).message.text, kioku_client.clean(half))
        self.assertEqual(kioku_client.clean("\ud83d\ude00 ok"), "\U0001f600 ok")


class TestParts(unittest.TestCase):
    """Messages are sent in parts that requests take."""

    def test_results_stay_with_their_calls_and_nothing_is_lost(self) -> None:
        calls = [ToolCall(id=c, name="read", input="{}") for c in "ab"]
        given = [ChatMessage(id="1", role="user", text="x" * (2 << 20)), ChatMessage(id="2", role="assistant", tool_calls=calls),
                 ChatMessage(id="3", role="tool", tool_call_id="a", text="y" * (1 << 20)), ChatMessage(id="4", role="tool", tool_call_id="b", text="z"),
                 ChatMessage(id="5", role="user", text="w")]
        wire = _sent.SentMessages(lambda _: None)
        got = wire.parts(given)
        self.assertEqual([[m.id for m in part] for part in got], [["1"], ["2", "3", "4", "5"]])
        self.assertEqual([m for part in got for m in part], given)
        self.assertEqual(wire.parts([]), [])

    def test_calls_and_results_that_fit_into_no_part_are_shortened(self) -> None:
        calls = [ToolCall(id="a", name="write", input=json.dumps({"text": "x" * (4 << 20)}))]
        given = [ChatMessage(id="1", role="assistant", tool_calls=calls), ChatMessage(id="2", role="tool", tool_call_id="a", text="begin %s end" % ("é" * (3 << 20)))]
        with self.assertLogs("kioku_client", "WARNING"):
            (got,) = _sent.SentMessages(lambda _: None).parts(given)
        self.assertLess(len(json.dumps(write(got), ensure_ascii=False).encode()), _sent.PART)
        self.assertEqual(list(got[0].tool_calls[0].input), ["left_out_bytes"])
        self.assertRegex(got[1].text, r"(?s)^begin é.*\n\[\d+ bytes are left out here\]\n.*é end$")


if __name__ == "__main__":
    unittest.main()
