"""Tests of the adapter for the Claude Agent SDK, with the real package and its Claude Code, a daemon and a scripted model on loopback."""
import asyncio
import json
import subprocess
import unittest

from tests.daemon import PROGRAM, REPOSITORY, DaemonTest
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

    def test_what_is_stored_is_not_stored_again_by_the_hooks_of_kioku(self) -> None:
        memory = KiokuMemory(self.kioku)
        self.talk(memory, "My sister is called Runa.", end=False)
        ((session, transcript),) = memory._transcripts.items()
        asyncio.run(memory.end())
        self.assertIn("Runa", self.daemon.notes())
        self.model.requests.clear()
        given = {"hook_event_name": "SessionEnd", "session_id": session, "transcript_path": transcript, "cwd": str(self.daemon.home), "reason": "other"}
        command = [str(PROGRAM), "hook", "claude-code", "session-end", "--detached", "--workspace", str(self.daemon.workspace),
                   "--state", str(self.daemon.home / "state"), *(arg for setting in self.settings for arg in ("--set", setting))]
        done = subprocess.run(command, input=json.dumps(given), env=self.daemon.environment, capture_output=True, text=True, timeout=60)
        self.assertNotIn("Runa", "".join(self.model.requests), done.stderr)
        self.assertRegex(done.stderr, session)


class TestTranscript(DaemonTest):
    """Of a transcript of Claude Code counts what counts for the program kioku, under the same ids and the same name of the session."""

    def test_the_transcript_of_all_readers_is_read_as_by_the_others(self) -> None:
        folder = REPOSITORY / "integrations/testdata"
        got = [{"id": m.id, "role": m.role, "text": m.text} for m in read_transcript(folder / "claude-code.jsonl")]
        self.assertEqual(got, json.loads((folder / "claude-code.json").read_text(encoding="utf-8")))

    def test_what_was_said_is_read_and_all_else_is_left_out(self) -> None:
        lines = [
            '{"type":"mode"}',
            '{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}',
            '{"type":"assistant","uuid":"u2","message":{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}}',
            '{"type":"assistant","uuid":"u3","message":{"role":"assistant","content":[{"type":"text","text":"Hi,"},{"type":"text","text":"Mia \\ud83d"}]}}',
            '{"type":"assistant","uuid":"u4","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"c":1}}]}}',
            '{"type":"user","uuid":"u6","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r1"}]}}',
            '{"type":"user","uuid":"u7","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>no</system-reminder>"},{"type":"text","text":"yes"}]}}',
            '{"type":"user","uuid":"u7b","message":{"role":"user","content":"yes"}}',
            '{"type":"user","uuid":"u8","isSidechain":true,"message":{"role":"user","content":"of a sub-agent"}}',
            '{"type":"user","uuid":"u9","isMeta":true,"message":{"role":"user","content":"of the program"}}',
            '{"type":"user","uuid":"u10","isCompactSummary":true,"message":{"role":"user","content":"of all this"}}',
            '{"type":"assistant","uuid":"u11","isApiErrorMessage":true,"message":{"role":"assistant","content":"API Error"}}',
            '{"type":"user","uuid":"u12","message":{"role":"user","content":"<command-name>/compact</command-name>"}}',
            '{"type":"user","uuid":"u13","message":{"role":"user","content":"[Request interrupted by user]"}}',
            '{"type":"user","uuid":"u14","message":{"role":"user","content":"%s"}}' % ("x" * (1 << 20)),
            '{"type":"user","uuid":"u15","message":{"role":"user","content":null}}', '{"type":"user","uuid":"u16","message":null}',
            '{"type":"user","uuid":7,"message":{"role":"user","content":"no id"}}', '{"type":"user","uuid":"u17","message":{"role":"user","content":[7,{"type":"text"}]}}',
            "null", "[1]", "7", "", "[" * 100_000, '{"type":"assist',
        ]
        file = self.daemon.home / "t.jsonl"
        file.write_bytes("\n".join(lines).encode().replace(b"yes", "yes\u2028and \x85".encode() + b"\xff"))
        got = [(m.id, m.role, m.text) for m in read_transcript(file)]
        self.assertEqual(got, [("u1", "user", "Hello"), ("u3", "assistant", "Hi,\n\nMia \ufffd"), ("u7", "user", "yes\u2028and \x85\ufffd")])

    def test_hooks_and_ends_go_on_without_a_transcript_and_a_service(self) -> None:
        given = {"hook_event_name": "PreCompact", "session_id": "s1", "transcript_path": str(self.daemon.home / "none.jsonl")}
        memory = KiokuMemory(self.kioku)
        with self.assertLogs("kioku_client", "WARNING"):
            self.assertIn("Kioku: no memories", asyncio.run(memory.pre_compact(given, None, {"signal": None}))["systemMessage"])  # type: ignore
            asyncio.run(memory.end())
        file = self.daemon.home / "s2.jsonl"
        file.write_text('{"type":"user","uuid":"u1","message":{"role":"user","content":"The sledge is in the barn."}}')
        asyncio.run(memory.user_prompt_submit({**given, "session_id": "s2", "transcript_path": str(file), "prompt": "?"}, None, {"signal": None}))  # type: ignore
        self.daemon.kill()
        try:
            with self.assertLogs("kioku_client", "WARNING") as told:
                asyncio.run(memory.end())
        finally:
            self.daemon.start()
        self.assertIn("run kioku serve", told.output[0])
        asyncio.run(memory.end())
        begun = self.kioku.call("POST /v1/flush:begin", {"session": "claude-code-s2"})
        self.assertIn("sledge", "\n".join(m["text"] for m in begun["messages"]))


if __name__ == "__main__":
    unittest.main()
