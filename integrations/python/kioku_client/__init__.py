"""A client of Kioku, the memory of agents.

    from kioku_client import Kioku

    kioku = Kioku()                       # the service that "kioku serve" runs on this machine
    kioku.append("Mia drinks green tea.")
    for hit in kioku.search("What does Mia drink?").results:
        print(hit.citation, hit.snippet)
"""
from kioku_client._text import clean
from kioku_client.aio import AsyncKioku, AsyncSession
from kioku_client.client import Kioku
from kioku_client.errors import Busy, Conflict, Denied, InvalidRequest, KiokuError, NotFound, NotPossible, Unreachable
from kioku_client.records import Author, ChatMessage, Condition, Origin, Tool, ToolCall
from kioku_client.session import Answer, Question, Session, TooLong, Turn
from kioku_client.tools import MemoryTool, ToolResult, memory_tools, run_tool

__all__ = [
    "Answer", "AsyncKioku", "AsyncSession", "Author", "Busy", "ChatMessage", "Condition", "Conflict", "Denied", "InvalidRequest", "Kioku",
    "KiokuError", "MemoryTool", "NotFound", "NotPossible", "Origin", "Question", "Session", "TooLong", "Tool", "ToolCall", "ToolResult",
    "Turn", "Unreachable", "clean", "memory_tools", "run_tool",
]
