"""An agent that remembers. Kioku gives it the prompt, the memory, flush and compaction; the model here is a scripted one,
so that it runs without a key: put a call to a real model in the place of model()."""
import json
import os
import re
import sys

import grpc
from kioku.v1 import agent_pb2, memory_pb2

AGENT = os.environ.get("KIOKU_AGENT", "main")
SESSION = os.environ.get("KIOKU_SESSION", "python-demo")
WINDOW = int(os.environ.get("KIOKU_WINDOW", "3000"))  # tokens that the model takes
HOLDER = "python-agent/" + SESSION  # the same after a crash, so that a flush goes on where it was


class Service:
    """Calls methods of a gRPC service by name, as generated stubs do; here those with one request and one answer."""

    def __init__(self, channel, module, name):
        for m in module.DESCRIPTOR.services_by_name[name].methods:
            request, answer = getattr(module, m.input_type.name), getattr(module, m.output_type.name)
            call = channel.unary_unary("/kioku.v1.%s/%s" % (name, m.name), request.SerializeToString, answer.FromString)
            setattr(self, m.name, lambda call=call, request=request, **fields: call(request(agent=AGENT, **fields), timeout=60))


def model(system, messages):
    """A stand-in for a language model: returns what it says and the tools that it calls, as (name, input) pairs."""
    said = messages[-1].text
    if messages[-1].role == "tool":
        return "Done: " + said, []
    if "NO_REPLY" in said:  # the flush asks what is worth keeping: here all that the user has stated
        stated = [m.text for m in messages[:-1] if m.role == "user" and re.fullmatch(r"(My|We|I) [^?]*", m.text)]
        return "NO_REPLY", [("memory_append", {"text": t, "category": "fact"}) for t in stated]
    if said.startswith("remember "):
        return "", [("memory_append", {"text": said[9:]})]
    if said.startswith("search "):
        return "", [("memory_search", {"query": said[7:]})]
    found = re.search(r'"text":("(?:[^"\\]|\\.)*")', system.partition("### Recalled Memories")[2])
    return ("I remember: " + last_line(json.loads(found.group(1))) if found else "I have no memory of that."), []


def last_line(text):
    return text.strip().splitlines()[-1]


def tell(error):  # such as a service that is away: the conversation goes on with the messages that it has
    print("  [%s]" % (": ".join((error.code().name, error.details())) if isinstance(error, grpc.RpcError) else error))


class Agent:
    def __init__(self, target):
        channel = grpc.insecure_channel(target)
        self.kioku = Service(channel, agent_pb2, "AgentService")
        self.memory = Service(channel, memory_pb2, "MemoryService")
        self.messages, self.cycle, self.made = [], None, 0

    def say(self, role, text, **fields):
        self.made += 1
        self.messages.append(agent_pb2.ChatMessage(id="m%d" % self.made, role=role, text=text, **fields))

    def turn(self, text):
        try:
            self.make_room(text)
        except grpc.RpcError as e:
            tell(e)
        prompt = self.kioku.AssemblePrompt(message=text, channel="terminal", model="scripted")
        for r in prompt.recall.recalled:
            print("  [recalled %s:%d]" % (r.path, r.start_line))
        self.say("user", text)
        answer, calls = model(prompt.prompt, self.messages)
        while calls:
            ids = [agent_pb2.ToolCall(id="c%d.%d" % (self.made, i), name=name, input=json.dumps(fields))
                   for i, (name, fields) in enumerate(calls)]
            self.say("assistant", answer, tool_calls=ids)
            for call, (name, fields) in zip(ids, calls):
                self.say("tool", self.tool(name, fields), tool_call_id=call.id, tool_name=name)
            answer, calls = model(prompt.prompt, self.messages)
        self.say("assistant", answer)
        print(answer)

    def tool(self, name, fields):
        print("  [%s %s]" % (name, json.dumps(fields, ensure_ascii=False)))
        if name == "memory_append":
            note = self.memory.MemoryAppend(source="agent", **fields)
            return "stored in %s:%d" % (note.path, note.start_line)
        found = self.memory.MemorySearch(max_results=3, **fields)
        lines = ["%s: %s" % (h.citation, last_line(h.snippet)) for h in found.results]
        return "; ".join(lines or ["nothing found"] + [d.text for d in found.degraded])

    def make_room(self, text):
        """Has memories stored before old messages become a summary, and goes on with a flush that a crash has ended."""
        if self.cycle is None:  # a process keeps no messages for the next one, so it begins a cycle that was not flushed yet
            self.cycle = self.kioku.CheckFlush(session=SESSION).next_cycle
        check = self.check(text)
        try:
            # Right before the compaction, not at check.flush already: in a small window it takes more than came since.
            while (check.compact or check.unfinished) and self.flush():
                check = self.check(text)
        except Exception as e:  # a flush that fails keeps no history from being compacted
            tell(e)
        if check.compact:
            self.compact()

    def check(self, text):
        size = sum(len(m.text) for m in self.messages)
        return self.kioku.CheckFlush(session=SESSION, cycle=self.cycle, window_tokens=WINDOW,
                                     projected_tokens=(size + len(text)) // 4, transcript_bytes=size)

    def flush(self):
        """Returns whether the flush was that of earlier messages: then those of now belong to a cycle of their own."""
        begun = self.kioku.BeginFlush(session=SESSION, cycle=self.cycle, holder=HOLDER, messages=self.messages)
        if begun.outcome == "done":
            return False
        resumed = begun.outcome == "resumed"
        lease = {"flush_id": begun.flush_id, "holder": HOLDER}
        try:
            asked = list(begun.messages if resumed else self.messages)
            asked.append(agent_pb2.ChatMessage(role="user", text=begun.user_prompt))
            # A key counts once: a model that may answer otherwise after a crash has its answer kept until the commit.
            reply, calls = model(begun.system_prompt, asked)
            for n, (_, note) in enumerate(calls, 1):
                self.memory.MemoryAppend(target="daily", source="flush", idempotency_key=begun.note_key_prefix + str(n), **note)
        except Exception as e:
            self.kioku.AbortFlush(reason=str(e), **lease)
            raise
        silent = self.kioku.CommitFlush(reply=reply, **lease).silent
        print("  [flush committed: %d notes%s%s]" % (len(calls), ", resumed" if resumed else "", ", silent" if silent else ""))
        self.cycle += resumed
        return resumed

    def compact(self):
        summary_first = self.messages[0].id == "summary"
        answer = self.kioku.Compact(messages=self.messages, summary_first=summary_first, window_tokens=WINDOW)
        if answer.outcome == "compacted":
            first = next(i for i, m in enumerate(self.messages) if m.id == answer.first_kept_id)
            answer.message.id = "summary"
            self.messages = [answer.message] + self.messages[first:]
            self.cycle += 1
            print("  [compacted: %d -> %d tokens]" % (answer.tokens_before, answer.tokens_after))


if __name__ == "__main__":
    me = Agent(os.environ.get("KIOKU_TARGET", "127.0.0.1:7600"))
    for line in sys.stdin:
        try:
            me.turn(line.strip())
        except grpc.RpcError as e:
            tell(e)
        sys.stdout.flush()
