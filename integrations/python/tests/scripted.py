"""A scripted model behind the APIs of OpenAI (chat completions) and Anthropic (messages), on loopback.

Told "remember ..." it calls a tool whose name ends in memory_append. In a flush it stores what the user said that begins with I, My
or We. It answers everything else with "ok".
"""
from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, Iterator, List, Tuple

Calls = List[Dict[str, Any]]


def reply(said: List[Tuple[str, str]], tools: List[str]) -> Tuple[str, Calls]:
    """Returns the text and the calls that answer messages, each a role and a text. A result of a tool has the role "tool"."""
    role, text = said[-1]
    append = next((name for name in tools if name.endswith("memory_append")), "")
    flush = next((t for r, t in reversed(said) if r == "user"), "").find("NO_REPLY") >= 0
    if text.startswith(("Summarise ", "These are summaries", "This summary cannot be used")):
        return "## Decisions\n\nThey spoke of many things, one after the other, and of nothing else that would be needed later on.", []
    if role == "tool":
        return ("NO_REPLY" if flush else "Done."), []
    if flush:
        told = [t for r, t in said[:-1] if r == "user"]
        return "NO_REPLY", [{"name": append, "input": {"text": t}} for t in re.findall(r"\b(?:My|We|I) [^?\n]*\.", "\n".join(told))]
    found = re.search(r"^remember (.*)$", text, re.MULTILINE)
    if found and append:
        return "", [{"name": append, "input": {"text": found.group(1)}}]
    return "ok", []


class ScriptedServer:
    """The server of the scripted model. requests has the body of each request as text."""

    def __init__(self) -> None:
        self.requests: List[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                given = json.loads(body)
                server.requests.append(json.dumps(given, ensure_ascii=False))
                if self.path.endswith("/chat/completions"):
                    chunks = openai(given)
                elif self.path.split("?")[0].endswith("/messages"):
                    chunks = anthropic(given)
                else:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if given.get("stream") else "application/json")
                self.end_headers()
                for chunk in chunks:
                    self.wfile.write(chunk.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self._http.server_port
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Ends the server."""
        self._http.shutdown()
        self._http.server_close()


def text_of(content: Any) -> str:
    """Returns the text of a message of either API."""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or [])


def openai(given: Dict[str, Any]) -> Iterator[str]:
    """Yields the answer of chat completions, as one object or as events."""
    said = [(m["role"], text_of(m.get("content"))) for m in given["messages"] if m["role"] != "system"]
    text, calls = reply(said, [t["function"]["name"] for t in given.get("tools", ())])
    made = [{"index": i, "id": "call_%d_%d" % (len(said), i), "type": "function",
             "function": {"name": c["name"], "arguments": json.dumps(c["input"])}} for i, c in enumerate(calls)]
    message: Dict[str, Any] = {"role": "assistant", "content": text or None}
    if made:
        message["tool_calls"] = made
    head = {"id": "c1", "created": 1, "model": "scripted"}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    stop = "tool_calls" if made else "stop"
    if not given.get("stream"):
        yield json.dumps({**head, "object": "chat.completion", "usage": usage, "choices": [{"index": 0, "finish_reason": stop, "message": message}]})
        return
    for choice in ({"index": 0, "delta": message, "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": stop}):
        yield "data: %s\n\n" % json.dumps({**head, "object": "chat.completion.chunk", "choices": [choice]})
    yield "data: %s\n\n" % json.dumps({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def anthropic(given: Dict[str, Any]) -> Iterator[str]:
    """Yields the answer of the Messages API, as one object or as events."""
    said: List[Tuple[str, str]] = []
    for m in (m for m in given["messages"] if m["role"] != "system"):
        blocks = [{"type": "text", "text": m["content"]}] if isinstance(m["content"], str) else m["content"]
        results = [b for b in blocks if b["type"] == "tool_result"]
        said.append(("tool", text_of(results[-1].get("content"))) if results else (m["role"], text_of(blocks)))
    text, calls = reply(said, [t.get("name", "") for t in given.get("tools", ())])
    blocks = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "tool_use", "id": "toolu_%d_%d" % (len(said), i), **c} for i, c in enumerate(calls)]
    usage, stop = {"input_tokens": 10, "output_tokens": 2}, "tool_use" if calls else "end_turn"
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "usage": usage}
    if not given.get("stream"):
        yield json.dumps({**message, "content": blocks, "stop_reason": stop})
        return
    yield event({"type": "message_start", "message": {**message, "content": [], "stop_reason": None}})
    for i, block in enumerate(blocks):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        delta = {"type": "text_delta", "text": text} if block["type"] == "text" else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield event({"type": "content_block_start", "index": i, "content_block": empty})
        yield event({"type": "content_block_delta", "index": i, "delta": delta})
        yield event({"type": "content_block_stop", "index": i})
    yield event({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage})
    yield event({"type": "message_stop"})


def event(data: Dict[str, Any]) -> str:
    """Returns an event of a stream."""
    return "event: %s\ndata: %s\n\n" % (data["type"], json.dumps(data))
