"""record.py: writes huggingface.json, small tokenizers of every kind and the token ids that Hugging Face's library gives to texts.

Run it with a Python that has the packages tokenizers and sentencepiece; its output is what the test compares with.
"""
import json
import os
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = [
    "Notes are kept as plain Markdown. A note keeps its name; the names of notes are unique.",
    "Refunds are paid within 14 days of 2026-03-04, and the invoice (no. 12345) is cancelled.",
    "func Search(ctx context.Context, query string) ([]Hit, error) { return nil, nil } // don't we're it's",
    "Café crème, naïve façade, Über-Straße, ÉCOLE, İstanbul, ΣΟΦΟΣ, Привет мир",
    "会議は木曜日に延期されました。ガギグ ｶﾞｷﾞ １２３", "我们决定使用 PostgreSQL 15，数据库很快。", "회의는 목요일로 연기되었습니다",
    "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดีชาวโลก", "🚀 ship it!!! 👨‍👩‍👧 🇩🇪 ok?",
]
TEXTS = CORPUS + [
    "", " ", "\t\r\n", "a", "  two  spaces  and a tab\tend ", "x" * 120, "line one\r\nline two\n\n\nline three", "<s> [CLS] a </s>[SEP]<mask> b",
    "ﬁ ﬂ ㍿ ① ｱ Å Å \u1e9b\u0323", "e\u0301 n\u0303 \u0301", "zero\u200bwidth\u00adsoft\ufeffbom\u0000nul\u0007bell\ufffd",
    "kioku kiokus memory memories <x>  joined", "▁already▁marked ▁ ▁▁", "12 345,678.90 ３４ ⅷ ½", "''s 's't'RE 'll", "a-b_c.d/e\\f@g#h",
    "\u3000wide\u00a0nbsp\u2028sep", "ﷺ", "a\u0300\u0316\u0301" * 3, "日本語English混在123", "\U0001f9d1\u200d\U0001f4bb coder",
]
PAIRS = [("who pays?", "Refunds are paid within 14 days."), ("", "a"), ("a b c d e f g h i j", "k")]


def trained(model, trainer, normalizer=None, splitter=None, processor=None, added=()):
    t = Tokenizer(model)
    if normalizer:
        t.normalizer = normalizer
    if splitter:
        t.pre_tokenizer = splitter
    t.train_from_iterator(CORPUS, trainer)
    if processor:
        t.post_processor = processor
    t.add_tokens(list(added))
    return t


def unigram():
    """A Unigram model of sentencepiece with a small table of replacements."""
    with tempfile.TemporaryDirectory() as d:
        rules = {"\t": " ", "\n": " ", "\r": " ", "\u3000": " ", "\u00a0": " ", "\ufb01": "fi", "\u2460": "1", "e\u0301": "é", "\uff11": "1", "\u337f": "株式会社", "\u200b": ""}
        with open(d + "/rules.tsv", "w", encoding="utf-8") as f:
            for before, after in rules.items():
                f.write(" ".join("%X" % ord(c) for c in before) + "\t" + " ".join("%X" % ord(c) for c in after) + "\n")
        with open(d + "/corpus.txt", "w", encoding="utf-8") as f:
            f.write("\n".join(CORPUS * 3))
        sentencepiece.SentencePieceTrainer.train(input=d + "/corpus.txt", model_prefix=d + "/m", vocab_size=190, model_type="unigram",
                                                 normalization_rule_tsv=d + "/rules.tsv", character_coverage=.98, minloglevel=2)
        s = sentencepiece.SentencePieceProcessor(model_file=d + "/m.model")
        proto = sentencepiece_model_pb2.ModelProto()
        with open(d + "/m.model", "rb") as f:
            proto.ParseFromString(f.read())
    vocabulary = [(s.id_to_piece(i), s.get_score(i)) for i in range(s.get_piece_size())]
    return models.Unigram(vocabulary, s.unk_id()), proto.normalizer_spec.precompiled_charsmap


def tokenizers():
    n, p, r = normalizers, pre_tokenizers, processors
    special = ["[UNK]", "[CLS]", "[SEP]"]
    bert = r.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 1), ("[SEP]", 2)])
    yield "bert uncased", trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(vocab_size=260, special_tokens=special, limit_alphabet=120), n.BertNormalizer(), p.BertPreTokenizer(), bert)
    yield "bert cased", trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20), trainers.WordPieceTrainer(vocab_size=260, special_tokens=special), n.BertNormalizer(lowercase=False),
                                p.BertPreTokenizer(), r.BertProcessing(("[SEP]", 2), ("[CLS]", 1)),
                                [AddedToken("kioku", single_word=True), AddedToken("<x>", lstrip=True, rstrip=True, normalized=False), AddedToken("memory")])
    yield "compatibility forms", trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(vocab_size=260, special_tokens=special), n.Sequence([n.NFKD(), n.StripAccents(), n.Lowercase(), n.Strip()]),
                                         p.BertPreTokenizer())
    model, charsmap = unigram()
    t = Tokenizer(model)
    t.normalizer = n.Sequence([n.Precompiled(charsmap), n.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = p.Sequence([p.WhitespaceSplit(), p.Metaspace()])
    t.post_processor = r.TemplateProcessing("<s> $A </s>", "<s> $A </s> </s> $B </s>", [("<s>", 1), ("</s>", 2)])
    t.add_special_tokens(["<s>", "</s>", "<mask>"])
    yield "xlm-roberta", t
    t = Tokenizer(model)  # as Model2Vec writes them
    t.normalizer = n.Sequence([n.Precompiled(charsmap), n.NFKC(), *(n.Replace(c, " " + c + " ") for c in "!?.,'"), n.Replace(Regex(r"\s+"), " "), n.Strip(left=False)])
    t.pre_tokenizer = p.Metaspace(prepend_scheme="first", split=False)
    t.add_special_tokens(["<s>", "</s>"])
    yield "model2vec", t
    yield "gpt-2", trained(models.BPE(), trainers.BpeTrainer(vocab_size=330, special_tokens=["<s>", "</s>"], initial_alphabet=p.ByteLevel.alphabet()), None, p.ByteLevel(add_prefix_space=True),
                           r.RobertaProcessing(("</s>", 1), ("<s>", 0)), [AddedToken("<mask>", lstrip=True, normalized=False)])
    # Llama 2: no pre-tokenizer, each character without a token as bytes
    base = trained(models.BPE(unk_token="<unk>"), trainers.BpeTrainer(vocab_size=200, special_tokens=["<unk>", "<s>"], limit_alphabet=60), n.Sequence([n.Prepend("▁"), n.Replace(" ", "▁")]), p.Split("▁", "merged_with_next"))
    j = json.loads(base.to_str())
    for b in range(256):
        j["model"]["vocab"].setdefault("<0x%02X>" % b, len(j["model"]["vocab"]))
    j["model"].update(byte_fallback=True, fuse_unk=True)
    j["pre_tokenizer"] = None
    t = Tokenizer.from_str(json.dumps(j))
    t.post_processor = r.TemplateProcessing("<s> $A", "<s> $A <s>:1 $B:1", [("<s>", 1)])
    yield "llama-2", t


out = []
for name, t in tokenizers():
    content = json.loads(t.to_str())
    out.append({"name": name, "tokenizer": content, "ids": [t.encode(x).ids for x in TEXTS],
                "pairs": [{"ids": e.ids, "types": e.type_ids} for e in (t.encode(a, b) for a, b in PAIRS)]})
    t.enable_truncation(6)
    out[-1]["truncated"] = [{"ids": e.ids, "types": e.type_ids} for e in (t.encode(a, b) for a, b in PAIRS)]
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "huggingface.json"), "w", encoding="utf-8") as f:
    f.write('{"texts": %s,\n"pairs": %s,\n"tokenizers": [\n' % (json.dumps(TEXTS, ensure_ascii=False), json.dumps(PAIRS)))
    f.write(",\n".join(json.dumps(x, ensure_ascii=False, separators=(",", ":")) for x in out) + "\n]}\n")
