"""An agent that remembers. Kioku gives it the prompt, the memory, flush and compaction; the model here is a scripted one,
so that it runs without a key: put a call to a real model in the place of model()."""
import json
import os
import re
import sys
import uuid

import grpc
from kioku.v1 import agent_pb2

AGENT = os.environ.get("KIOKU_AGENT", "main")
SESSION = os.environ.get("KIOKU_SESSION", "python-demo")
WINDOW = int(os.environ.get("KIOKU_WINDOW", "3000"))  # tokens that the model takes


class Service:
    """Calls methods of a gRPC service by name, as generated stubs do; here those with one request and one answer."""

    def __init__(self, channel, module, name):
        for m in module.DESCRIPTOR.services_by_name[name].methods:
            request, answer = getattr(module, m.input_type.name), getattr(module, m.output_type.name)
            call = channel.unary_unary("/kioku.v1.%s/%s" % (name, m.name), request.SerializeToString, answer.FromString)
            setattr(self, m.name, lambda call=call, request=request, **fields: call(request(agent=AGENT, **fields), timeout=60))


SAVED = "saved"  # what a call in a flush returns


def model(system, messages, tools):
    """A stand-in for a language model: returns what it says and the tools that it calls, as (name, input) pairs. A real one is
    given the tools with their names, descriptions and schemas."""
    offered = [tool.name for tool in tools]
    said = messages[-1].text
    if messages[-1].role == "tool":
        return "NO_REPLY" if said == SAVED else "Done: " + said, []
    if "NO_REPLY" in said:  # the flush asks what is worth keeping: here all that the user has stated
        stated = [m.text for m in messages[:-1] if m.role == "user" and re.fullmatch(r"(My|We|I) [^?]*", m.text)]
        return "NO_REPLY", [("memory_append", {"text": t, "category": "fact"}) for t in stated]
    if said.startswith("remember ") and "memory_append" in offered:
        return "", [("memory_append", {"text": said[9:]})]
    if said.startswith("search ") and "memory_search" in offered:
        return "", [("memory_search", {"query": said[7:]})]
    found = re.search(r'"text":("(?:[^"\\]|\\.)*")', system.partition("### Recalled Memories")[2])
    return ("I remember: " + last_line(json.loads(found.group(1))) if found else "I have no memory of that."), []


def last_line(text):
    return text.strip().splitlines()[-1]


def tell(error):  # such as a service that is away: the conversation goes on with the messages that it has
    print("  [%s]" % (": ".join((error.code().name, error.details())) if isinstance(error, grpc.RpcError) else error))


class Agent:
    def __init__(self, target):
        self.kioku = Service(grpc.insecure_channel(target), agent_pb2, "AgentService")
        self.messages, self.known = [], set()  # known are the ids of the messages that the service has
        self.tools = None

    def say(self, role, text, **fields):  # the id of a message is its own, also in the next process
        self.messages.append(agent_pb2.ChatMessage(id=str(uuid.uuid4()), role=role, text=text, **fields))

    def call(self, method, **fields):
        """Makes a call with the messages of the session. Those that were sent before are named by their ids."""
        short = [agent_pb2.ChatMessage(id=m.id) if m.id in self.known else m for m in self.messages]
        try:
            answer = method(session=SESSION, messages=short, **fields)
        except grpc.RpcError as e:
            if e.code() != grpc.StatusCode.FAILED_PRECONDITION or short == self.messages:
                raise
            answer = method(session=SESSION, messages=self.messages, **fields)  # the service was started anew
        self.known = {m.id for m in self.messages}
        return answer

    def turn(self, text):
        try:
            self.make_room(text)
        except grpc.RpcError as e:
            tell(e)
        if self.tools is None:
            self.tools = self.kioku.ListTools(channel="terminal").tools
        prompt = self.kioku.AssemblePrompt(message=text, channel="terminal", model="scripted")
        # A real agent sends turn_block as a part of the newest message of the user, behind its text.
        system = prompt.prompt + prompt.turn_block
        for r in prompt.recall.recalled:
            print("  [recalled %s:%d]" % (r.path, r.start_line))
        self.say("user", text)
        answer, calls = model(system, self.messages, self.tools)
        while calls:
            ids = [agent_pb2.ToolCall(id="c%d.%d" % (len(self.messages), i), name=name, input=json.dumps(fields))
                   for i, (name, fields) in enumerate(calls)]
            self.say("assistant", answer, tool_calls=ids)
            for call, (name, fields) in zip(ids, calls):
                self.say("tool", self.tool(name, fields), tool_call_id=call.id, tool_name=name)
            answer, calls = model(system, self.messages, self.tools)
        self.say("assistant", answer)
        print(answer)

    def tool(self, name, fields):
        print("  [%s %s]" % (name, json.dumps(fields, ensure_ascii=False)))
        # A mistake of the model is in the output, for the model.
        return self.kioku.CallTool(name=name, input=json.dumps(fields), channel="terminal").output

    def make_room(self, text):
        """Does what CheckFlush says: has memories stored, and then old messages made a summary."""
        size = sum(len(m.text) for m in self.messages)
        check = self.call(self.kioku.CheckFlush, window_tokens=WINDOW, projected_tokens=(size + len(text)) // 4, transcript_bytes=size)
        if check.flush:
            try:
                self.flush()
            except Exception as e:  # what was not stored stays: Compact drops nothing of it
                tell(e)
        if check.compact:
            self.compact()

    def flush(self):
        """Shows the model range by range what is not stored, oldest first, and commits the notes that it makes."""
        while True:
            begun = self.call(self.kioku.BeginFlush, window_tokens=WINDOW)
            if begun.outcome == "nothing":
                return
            asked = list(begun.messages) + [agent_pb2.ChatMessage(role="user", text=begun.user_prompt)]
            # Where the model refuses this as too long, call BeginFlush again with too_long=True.
            notes = []
            reply, calls = model(begun.system_prompt, asked, [begun.tool])
            while calls:  # many models make one call an answer: the model is done when it makes none
                notes += [agent_pb2.FlushNote(**note) for _, note in calls]
                made = [agent_pb2.ToolCall(id="f%d.%d" % (len(asked), i), name=name, input=json.dumps(note)) for i, (name, note) in enumerate(calls)]
                asked.append(agent_pb2.ChatMessage(role="assistant", text=reply, tool_calls=made))
                asked += [agent_pb2.ChatMessage(role="tool", text=SAVED, tool_call_id=c.id, tool_name=c.name) for c in made]
                reply, calls = model(begun.system_prompt, asked, [begun.tool])
            done = self.kioku.CommitFlush(lease=begun.lease, notes=notes, reply=reply)
            print("  [flush committed: %d messages, %d notes%s]" % (done.covered_count, len(done.notes), ", silent" if done.silent else ""))

    def compact(self):
        answer = self.call(self.kioku.Compact, window_tokens=WINDOW)
        if answer.outcome != "compacted":
            print("  [not compacted: %s]" % answer.reason)
            return
        first = next(i for i, m in enumerate(self.messages) if m.id == answer.first_kept_id)
        self.messages = [answer.message] + self.messages[first:]
        print("  [compacted: %d -> %d tokens]" % (answer.tokens_before, answer.tokens_after))

    def end(self):
        """Ends the session: what is not stored of it is, by the model of the service, or by the agent's own."""
        ended = self.call(self.kioku.EndSession)
        print("  [session ended: %s]" % ended.outcome)
        if ended.outcome == "kept":
            self.flush()


if __name__ == "__main__":
    me = Agent(os.environ.get("KIOKU_TARGET", "127.0.0.1:7600"))
    for line in sys.stdin:
        try:
            me.turn(line.strip())
        except grpc.RpcError as e:
            tell(e)
        sys.stdout.flush()
    try:
        me.end()
    except grpc.RpcError as e:
        tell(e)
