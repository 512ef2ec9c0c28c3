#!/usr/bin/env python3
"""precision.py KIOKU DIR [CUT]: the cases of PrecisionMemBench in the folder DIR (beliefs.seed.json, retrieval.cases.json), asked with the
program KIOKU, words only. Standard library only. The beliefs become notes: a folder a scope, aliases and status in the front matter, pinned
beliefs in what each session begins with and not among the searched, each user a folder of her own. A belief comes back if its note is
found by a result that is not weak and has at least CUT (.6) of the score of the best. Prints in how many cases nothing came back that must
not, and in how many all that should came back too."""
import json, os, subprocess, sys, tempfile

program, data = sys.argv[1:3]
cut = float(sys.argv[3]) if len(sys.argv) > 3 else .6
beliefs = {b["_id"]: b for b in json.load(open(os.path.join(data, "beliefs.seed.json"), encoding="utf-8"))}
cases = json.load(open(os.path.join(data, "retrieval.cases.json"), encoding="utf-8"))
root = tempfile.mkdtemp()
env = dict(os.environ, HOME=root, KIOKU_STATE=os.path.join(root, "state"))


def folder(scope):
    return scope.replace(":", "-")


def active(b):
    return b["epistemic_status"] != "superseded" and not b["superseded_by"] and not b["resolved_at"]


def of_scope(b, scopes, user):
    return b["user_id"] == user and active(b) and any(s in scopes for s in b["scope"])


for b in beliefs.values():
    if b["scope"] == ["user:universal"] or b["pinned"] and b["type"] != "open_question":
        continue  # each session begins with it
    status = "active" if active(b) else "gone"
    for scope in b["scope"]:
        place = os.path.join(root, "users", b["user_id"], folder(scope))
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, b["_id"] + ".md"), "w", encoding="utf-8") as f:
            names = [b["canonical_name"].replace("_", " ")] + b["aliases"]
            f.write(f"---\naliases: {json.dumps(names)}\nstatus: {status}\ntype: {b['type']}\n---\n{b['content']}\n")


def search(user, scope, query, n):
    where = os.path.join(root, "users", user)
    if not query.strip() or n <= 0 or not os.path.isdir(where):
        return []
    run = subprocess.run([program, "search", "--json", "--workspace", where, "--provider", "none", "-n", str(min(n, 20)), "--where", "status=active",
                          "--where", "type!=open_question", "--path-prefix", folder(scope) + "/", "--", query], env=env, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return [r for r in json.loads(run.stdout)["results"] if not r.get("weak")]


only = whole = 0
for case in cases:
    user, expect = case.get("userId", "test-user"), case["expect"]
    pinned = {i for i, b in beliefs.items() if b["pinned"] and b["type"] != "open_question" and of_scope(b, case["scope"], user)}
    room = case.get("budget", {}).get("maxBeliefs", 20 + len(pinned)) - len(pinned)
    hits = sorted((h for s in case["scope"] for h in search(user, s, case["query"], room)), key=lambda h: -h["score"])
    found = {os.path.basename(h["path"])[:-3] for h in hits[:max(room, 0)] if h["score"] >= cut * hits[0]["score"]}
    questions = {i for i, b in beliefs.items() if b["type"] == "open_question" and b["pinned"] and of_scope(b, case["scope"], user)}
    wanted, tell = set(expect.get("relevantBeliefs", {}).get("shouldOnlyInclude", found)), []
    for name, got in (("pinnedFacts", pinned), ("openQuestions", questions), ("relevantBeliefs", found)):
        e = expect.get(name, {})
        tell += [f"{name} lacks {i}" for i in e.get("mustInclude", []) if i not in got] + [f"{name} has {i}" for i in e.get("mustExclude", []) if i in got]
    extra, lost = sorted(found - wanted), sorted(wanted - found)
    tell += ["came back: " + i for i in extra]
    only += not tell
    whole += not tell and not lost
    if tell or lost:
        print(case["caseId"], *tell, *("did not come back: " + i for i in lost), sep="\n  ")
print(f"{len(cases)} cases: nothing but what may come back in {only}, and all of it in {whole}")
