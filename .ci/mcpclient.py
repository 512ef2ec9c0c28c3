"""Asks a memory with the official Python SDK: over HTTP at a URL, and over standard input and output of a command."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def ask(streams):
    async with streams as s, ClientSession(s[0], s[1]) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        assert len(tools) == 5, tools
        steps = []

        async def progress(done, total, message):
            steps.append(done)

        found = await session.call_tool("memory_search", {"query": "boiler"}, progress_callback=progress)
        assert "0.8 bar" in found.content[0].text, found
        status = await session.read_resource("kioku://status")
        assert "files" in status.contents[0].text, status
        wrong = await session.call_tool("memory_get", {"path": "nope.md"})
        assert "use a path" in wrong.content[0].text, wrong
        stored = await session.call_tool("memory_append", {"text": "猫の名前はミケ。", "target": "long_term"})
        assert "MEMORY.md" in stored.content[0].text, stored
        changed = await session.call_tool("memory_update", {"old_text": "猫の名前はミケ。", "new_text": "猫の名前はミケです。"})
        assert "revision" in changed.content[0].text, changed
        listed = (await session.list_resources()).resources
        assert any(str(r.uri) == "kioku:///MEMORY.md" for r in listed), listed
        read = await session.read_resource("kioku:///MEMORY.md")
        assert "ミケ" in read.contents[0].text, read
        assert steps == sorted(steps), steps


async def main():
    await ask(streamable_http_client(sys.argv[1]))
    await ask(stdio_client(StdioServerParameters(command=sys.argv[2], args=sys.argv[3:])))
    print("all answered")


asyncio.run(main())
