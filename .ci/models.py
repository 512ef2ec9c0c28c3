"""What .ci/models needs of Python.

models.py convert FOLDER writes model.safetensors and config.json, with the names that Hugging Face uses, from the model.onnx of a BERT model.
models.py golden DIR writes DIR/golden.json: the token ids and vectors that ONNX Runtime and numpy compute for texts with each model.
"""
import json
import os
import re
import sys

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

TRANSFORMERS = {  # pooling, most tokens, prefix of queries, prefix of passages
    "all-minilm-l6-v2": ("mean", 256, "", ""),
    "bge-small-en-v15": ("cls", 512, "Represent this sentence for searching relevant passages: ", ""),
    "e5-small-v2": ("mean", 512, "query: ", "passage: "),
}
TEXTS = [
    "caffeinate keeps a MacBook awake", "How do I stop my laptop from sleeping?", "Refunds are paid within 14 days.", "Can I get my money back?",
    "func (m *Memory) Search(ctx context.Context, q Query) (Answer, error) {", "Café crème, naïve façade, Über-Straße, İstanbul",
    "会議は木曜日に延期されました。", "我们决定使用 PostgreSQL 15", "회의는 목요일로 연기되었습니다", "Встреча перенесена на четверг", "🚀 ship it!!! — ok?", "a", "\ttabs\nand\r\nlines ",
    "x" * 150, "antidisestablishmentarianism un\u200bzero\u00adsoft e\u0301", "ﬁ １２３ ｱｲｳ ½ №", " ".join("item%d is number %d of the list." % (i, i) for i in range(150)),
]


def convert(folder):
    graph = onnx.load(folder + "/model.onnx").graph
    weights = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    out = {k: numpy.ascontiguousarray(v) for k, v in weights.items() if k.startswith(("embeddings.", "encoder.")) and "position_ids" not in k}
    for node in graph.node:  # the matrix of a linear layer is the transposed operand of a product that is named after the layer
        name = re.fullmatch(r"/(encoder/layer\.\d+/.*)/MatMul", node.name)
        if node.op_type == "MatMul" and name and node.input[1] in weights:
            out[name[1].replace("/", ".") + ".weight"] = numpy.ascontiguousarray(weights[node.input[1]].T)
    layers = 1 + max(int(m[1]) for m in (re.match(r"encoder\.layer\.(\d+)", k) for k in out) if m)
    vocabulary, hidden = out["embeddings.word_embeddings.weight"].shape
    save_file(out, folder + "/model.safetensors")
    config = {"model_type": "bert", "vocab_size": vocabulary, "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": 12,
              "intermediate_size": out["encoder.layer.0.intermediate.dense.weight"].shape[0], "hidden_act": "gelu", "layer_norm_eps": 1e-12,
              "max_position_embeddings": len(out["embeddings.position_embeddings.weight"]), "type_vocab_size": 2}
    with open(folder + "/config.json", "w") as f:
        json.dump(config, f)


def unit(v):
    return v / numpy.linalg.norm(v, axis=-1, keepdims=True)


def transformer(folder, pooling, most, prefix):
    """Token ids and unit vectors of TEXTS after a prefix."""
    tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
    tokenizer.enable_truncation(most)
    tokenizer.no_padding()
    session = onnxruntime.InferenceSession(folder + "/model.onnx", providers=["CPUExecutionProvider"])
    names = {i.name for i in session.get_inputs()}
    ids, vectors = [], []
    for text in TEXTS:
        e = tokenizer.encode(prefix + text)
        feed = {"input_ids": [e.ids], "attention_mask": [e.attention_mask], "token_type_ids": [[0] * len(e.ids)]}
        hidden = session.run(None, {k: numpy.array(v, numpy.int64) for k, v in feed.items() if k in names})[0]
        if hidden.ndim == 3:
            hidden = hidden[:, 0] if pooling == "cls" else hidden.mean(1)
        ids.append(e.ids)
        vectors.append(unit(hidden[0]))
    return ids, numpy.stack(vectors)


def first(vectors):
    return [[round(float(x), 6) for x in v[:8]] for v in vectors]


def golden(folder):
    models = {}
    for name, (pooling, most, query, passage) in TRANSFORMERS.items():
        q_ids, q = transformer(folder + "/" + name, pooling, most, query)
        p_ids, p = transformer(folder + "/" + name, pooling, most, passage)
        models[name] = {"dims": q.shape[1], "pooling": pooling, "query": {"token_ids": q_ids, "first_8": first(q)}, "passage": {"token_ids": p_ids, "first_8": first(p)},
                        "cosine_query_passage": (q @ p.T).tolist(), "whole": {"query": q.tolist(), "passage": p.tolist()}}
    tokenizer = Tokenizer.from_file(folder + "/wordllama/tokenizer.json")
    rows = load_file(folder + "/wordllama/model.safetensors")["embedding.weight"].astype(numpy.float32)
    ids = [tokenizer.encode(t, add_special_tokens=False).ids for t in TEXTS]
    v = unit(numpy.stack([rows[i].mean(0) for i in ids]))
    models["wordllama"] = {"dims": v.shape[1], "token_ids": ids, "first_8": first(v), "cosine": (v @ v.T).tolist()}
    part = folder + "/golden.json.part"
    with open(part, "w") as f:
        json.dump({"texts": TEXTS, "models": models}, f)
    os.replace(part, folder + "/golden.json")


{"convert": convert, "golden": golden}[sys.argv[1]](sys.argv[2])
