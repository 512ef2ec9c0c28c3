"""Tests of the adapter for the Claude Agent SDK, with the real package and its Claude Code, a daemon and a scripted model on loopback."""
import asyncio
import pathlib
import tempfile
import unittest

from tests.daemon import DaemonTest
from tests.scripted import ScriptedServer

try:
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

    from kioku_client.adapters.claude_agent_sdk import KiokuMemory, read_transcript
except ImportError as e:
    raise unittest.SkipTest("Claude Agent SDK: not tested, %s: pip install claude-agent-sdk" % e)


class TestClaudeAgentSDK(DaemonTest):
    """Claude recalls before it answers, stores by its tools, and what was said is stored before a summary and at the end."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.model = ScriptedServer()
        cls.addClassCleanup(cls.model.close)
        cls.settings = ("llm.provider=openai", "llm.model=scripted", "llm.apiKey=env:HOME", "llm.baseUrl=%s/v1" % cls.model.url)
        super().setUpClass()

    def talk(self, memory: "KiokuMemory", *lines: str, end: bool = True) -> None:
        """Has Claude answer lines of input in one session, in a home of its own, and ends it."""
        home = self.daemon.home / "claude"
        home.mkdir(exist_ok=True)
        environment = {"HOME": str(home), "ANTHROPIC_BASE_URL": self.model.url, "ANTHROPIC_API_KEY": "sk-ant-test", "IS_SANDBOX": "1",
                       "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CONFIG_DIR": str(home / ".claude")}
        options = memory.add_to(ClaudeAgentOptions(env=environment, cwd=home, setting_sources=[], max_turns=5))

        async def run() -> None:
            async with ClaudeSDKClient(options) as client:
                for line in lines:
                    await client.query(line)
                    async for message in client.receive_response():
                        if isinstance(message, ResultMessage):
                            self.assertFalse(message.is_error, message)
            if end:
                await memory.end()

        asyncio.run(asyncio.wait_for(run(), 90))

    def test_claude_stores_by_its_tool_and_recalls_in_the_next_session(self) -> None:
        self.talk(KiokuMemory(self.kioku), "remember The cellar key is under the third stone.", "My dentist appointment is on 2026-03-09.")
        notes = self.daemon.notes()
        self.assertIn("third stone", notes)
        self.assertIn("from=agent", notes)
        self.assertIn("dentist", notes)
        self.kioku.sync()
        self.model.requests.clear()
        self.talk(KiokuMemory(self.kioku), "Where is the cellar key?")
        self.assertTrue(any("third stone" in r and "Where is the cellar key?" in r for r in self.model.requests))

    def test_what_matters_is_stored_before_a_summary(self) -> None:
        self.talk(KiokuMemory(self.kioku), "My brother is called Jonas.", "/compact", end=False)
        self.assertIn("Jonas", self.daemon.notes())


class TestTranscript(unittest.TestCase):
    """The lines of a transcript of Claude Code become messages that the service takes."""

    def test_parts_of_an_answer_are_one_message_and_results_follow_their_calls(self) -> None:
        lines = [
            '{"type":"mode"}',
            '{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}',
            '{"type":"assistant","uuid":"u2","message":{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}}',
            '{"type":"assistant","uuid":"u3","message":{"role":"assistant","content":[{"type":"text","text":"Hi"}]}}',
            '{"type":"assistant","uuid":"u4","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"c":1}}]}}',
            '{"type":"assistant","uuid":"u5","message":{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{}}]}}',
            '{"type":"user","uuid":"u6","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r1"}]}]}}',
            '{"type":"user","uuid":"u7","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"r2","is_error":true}]}}',
            '{"type":"user","uuid":"u8","isSidechain":true,"message":{"role":"user","content":"of a sub-agent"}}',
            '{"type":"user","uuid":"u9","isMeta":true,"message":{"role":"user","content":"of the program"}}',
            '{"type":"user","uuid":"u10","isCompactSummary":true,"message":{"role":"user","content":"of all this"}}',
            '{"type":"assist',
        ]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "t.jsonl")
            file.write_text("\n".join(lines))
            got = [(m.id, m.role, m.text, [c.id for c in m.tool_calls], m.tool_call_id, m.failed) for m in read_transcript(file)]
        self.assertEqual(got, [
            ("u1", "user", "Hello", [], "", False),
            ("u3", "assistant", "Hi", ["t1", "t2"], "", False),
            ("u6-0", "tool", "r1", [], "t1", False),
            ("u7-0", "tool", "r2", [], "t2", True),
        ])


if __name__ == "__main__":
    unittest.main()
