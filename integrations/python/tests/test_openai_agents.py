"""Tests of the adapter for the OpenAI Agents SDK, with the real package, a daemon and a scripted model on loopback."""
import asyncio
import unittest

from tests.daemon import DaemonTest
from tests.scripted import ScriptedServer

try:
    from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, SQLiteSession, set_tracing_disabled
    from openai import AsyncOpenAI

    from kioku_client.adapters.openai_agents import KiokuSession
except ImportError as e:
    raise unittest.SkipTest("OpenAI Agents SDK: not tested, %s: pip install openai-agents" % e)


class TestOpenAIAgents(DaemonTest):
    """An agent of the SDK recalls, stores by its tools, and loses nothing when its window is full or it ends early."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.model = ScriptedServer()
        cls.addClassCleanup(cls.model.close)
        cls.settings = ("llm.provider=openai", "llm.model=scripted", "llm.apiKey=env:HOME", "llm.baseUrl=%s/v1" % cls.model.url)
        super().setUpClass()
        set_tracing_disabled(True)

    def run_agent(self, session: "KiokuSession", *lines: str) -> str:
        """Returns the last answer of an agent to lines of input, one run each."""

        async def run() -> str:
            async with AsyncOpenAI(base_url=self.model.url + "/v1", api_key="test") as client:
                model = OpenAIChatCompletionsModel("scripted", client)
                agent = Agent(name="Assistant", instructions="You are brief.", model=model, tools=session.tools())
                config = RunConfig(call_model_input_filter=session.call_model_input_filter)
                for line in lines:
                    done = await Runner.run(agent, line, session=session, run_config=config)
                return str(done.final_output)

        return asyncio.run(run())

    def test_the_agent_stores_by_its_tool_and_recalls_in_the_next_session(self) -> None:
        said = self.run_agent(KiokuSession(self.kioku, "first", channel="terminal"), "remember The cellar key is under the third stone.")
        self.assertEqual(said, "Done.")
        self.assertIn("from=agent", self.daemon.notes())
        self.kioku.sync()
        self.model.requests.clear()
        self.run_agent(KiokuSession(self.kioku, "second", channel="terminal"), "Where is the cellar key?")
        self.assertIn("third stone", self.model.requests[0])
        self.assertIn("You are brief.", self.model.requests[0])

    def test_what_was_said_is_stored_when_the_conversation_ends(self) -> None:
        session = KiokuSession(self.kioku, "ending", channel="terminal")
        self.run_agent(session, "My dentist appointment is on 2026-03-09.")
        self.assertEqual(asyncio.run(session.end()).outcome, "done")
        self.assertIn("dentist", self.daemon.notes())

    def test_what_was_said_is_stored_when_the_session_is_cleared(self) -> None:
        session = KiokuSession(self.kioku, "cleared", channel="terminal")
        self.run_agent(session, "My bicycle is in the cellar.")
        asyncio.run(session.clear_session())
        self.assertIn("bicycle", self.daemon.notes())
        self.assertEqual(asyncio.run(session.get_items()), [])
        self.run_agent(session, "My boat is in the harbour.")
        self.daemon.kill()
        try:
            with self.assertLogs("kioku_client", "WARNING"):
                asyncio.run(session.clear_session())
        finally:
            self.daemon.start()
        self.assertEqual(asyncio.run(session.get_items()), [])

    def test_old_items_become_a_summary_after_what_matters_is_stored(self) -> None:
        history = SQLiteSession("window")
        session = KiokuSession(self.kioku, "window", history=history, window_tokens=6000, channel="terminal")
        self.run_agent(session, "My train leaves from platform 9.", *("%d. And what about this? %s" % (i, "lorem ipsum dolor " * 60) for i in range(40)))
        self.assertIn("platform 9", self.daemon.notes())
        self.assertLess(len(asyncio.run(history.get_items())), 60)
        self.assertLess(max(map(len, self.model.requests)), 60_000)
        # Another process continues with what is stored.
        self.run_agent(KiokuSession(self.kioku, "window", history=history, window_tokens=6000, channel="terminal"), "Are you there?")


if __name__ == "__main__":
    unittest.main()
