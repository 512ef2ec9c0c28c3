"""onnx.py FOLDER FILE...: ONNX Runtime, to be compared with. FOLDER has model.onnx, model_int8.onnx and tokenizer.json.

The first line of output is a JSON list of all token ids of the files. Each line of input is a JSON object: "file", the model;
"threads"; "ids", lists of token ids of equal length; "batch", how many of them are computed together; "pooling", "mean" or "cls".
The answer is a line with "seconds", "processor" (seconds of all cores) and the unit "vectors"."""
import json, sys, time
import numpy as np, onnxruntime as ort
from tokenizers import Tokenizer

folder = sys.argv[1]
tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
tokenizer.no_truncation()
tokenizer.no_padding()
text = "\n".join(open(name, encoding="utf-8").read() for name in sys.argv[2:])
print(json.dumps(tokenizer.encode(text, add_special_tokens=False).ids), flush=True)
sessions = {}


def session(file, threads):
    if (file, threads) not in sessions:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        sessions[file, threads] = ort.InferenceSession(folder + "/" + file, options, providers=["CPUExecutionProvider"])
    return sessions[file, threads]


def vectors(s, ids, pooling):
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    names = {i.name for i in s.get_inputs()}
    hidden = s.run(None, {k: v for k, v in feed.items() if k in names})[0]
    v = hidden if hidden.ndim == 2 else hidden[:, 0] if pooling == "cls" else hidden.mean(1)
    return v / np.linalg.norm(v, axis=1, keepdims=True)


for line in sys.stdin:
    order = json.loads(line)
    s, ids, n = session(order["file"], order["threads"]), np.array(order["ids"], np.int64), order["batch"]
    start, used = time.perf_counter(), time.process_time()
    out = np.concatenate([vectors(s, ids[i:i + n], order["pooling"]) for i in range(0, len(ids), n)])
    print(json.dumps({"seconds": time.perf_counter() - start, "processor": time.process_time() - used, "vectors": out.tolist()}), flush=True)
