"""An agent in the terminal that remembers: python3 example.py [name of the conversation]. It needs a running kioku serve, the package
openai, OPENAI_API_KEY, and MODEL; OPENAI_BASE_URL names another server."""
import os
import sys

from openai import OpenAI

from kioku_client import ChatMessage, Kioku, Question, Session, memory_tools
from kioku_client.adapters.openai_chat import OpenAIChat

kioku = Kioku()
chat = OpenAIChat(OpenAI(), os.environ.get("MODEL", "gpt-5"))
session = Session(kioku, sys.argv[1] if len(sys.argv) > 1 else "example", ask=chat.ask, window_tokens=200_000, channel="terminal")
tools = memory_tools(kioku, channel="terminal")
messages = []

for line in sys.stdin:
    messages.append(ChatMessage(role="user", text=line.strip()))
    while True:
        turn = session.before(messages)  # stores memories and makes room where that is due, and recalls
        answer = chat.ask(Question(turn.system, turn.messages, [tool.definition for tool in tools]))
        session.after(answer)
        messages.append(answer.message)
        if not answer.calls:
            break
        messages += session.run_tools(tools, answer)
    print(answer.text, flush=True)
session.end()  # what was not stored yet is
