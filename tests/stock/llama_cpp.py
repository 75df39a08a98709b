"""Does unmodified llama.cpp write the transcript that the emulator wrote?

usage: llama_cpp.py MODEL.gguf TRANSCRIPT [--check] [--write] [--stop-after N]

  --check   one pass over prompt and transcript: at every position the most probable token has to be the
            transcript's next one
  --write   only the prompt is given; llama.cpp writes the transcript itself, token after token, always the
            most probable one

Both when neither is given. The text of the transcript file goes through llama.cpp's own tokenizer. Exit status 1
at the first token that differs.
"""
import argparse
import ctypes
import importlib.metadata
import importlib.util
import os
import re
import resource
import sys
import time

# llama.cpp's public C interface (llama.h), which the xllamacpp extension exports.


class Batch(ctypes.Structure):
    _fields_ = [
        ("count", ctypes.c_int32),
        ("tokens", ctypes.POINTER(ctypes.c_int32)),
        ("embeddings", ctypes.c_void_p),
        ("positions", ctypes.c_void_p),
        ("sequence_counts", ctypes.c_void_p),
        ("sequences", ctypes.c_void_p),
        ("wants_logits", ctypes.POINTER(ctypes.c_int8)),
    ]


class Parameters(ctypes.Structure):
    """Parameters of a model or a context, as llama.cpp's defaults fill them in. Both are passed by value, as the
    last argument and on the stack, so a structure that is larger than the real one does no harm. Of a context
    the first three fields are used; of a model none."""

    _fields_ = [("n_ctx", ctypes.c_uint32), ("n_batch", ctypes.c_uint32), ("n_ubatch", ctypes.c_uint32),
                ("other", ctypes.c_uint64 * 128)]


LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


def load_library():
    library = ctypes.CDLL(importlib.util.find_spec("xllamacpp.xllamacpp").origin)
    pointer, number, text = ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p
    for name, result, arguments in [
        ("llama_log_set", None, [LogCallback, pointer]),
        ("llama_backend_init", None, []),
        ("llama_print_system_info", text, []),
        ("llama_model_default_params", Parameters, []),
        ("llama_context_default_params", Parameters, []),
        ("llama_model_load_from_file", pointer, [text, Parameters]),
        ("llama_model_desc", number, [pointer, text, ctypes.c_size_t]),
        ("llama_model_get_vocab", pointer, [pointer]),
        ("llama_vocab_n_tokens", number, [pointer]),
        ("llama_vocab_get_text", text, [pointer, number]),
        ("llama_tokenize", number,
         [pointer, text, number, ctypes.POINTER(number), number, ctypes.c_bool, ctypes.c_bool]),
        ("llama_init_from_model", pointer, [pointer, Parameters]),
        ("llama_free", None, [pointer]),
        ("llama_set_n_threads", None, [pointer, number, number]),
        ("llama_batch_get_one", Batch, [ctypes.POINTER(number), number]),
        ("llama_decode", number, [pointer, Batch]),
        ("llama_get_logits_ith", ctypes.POINTER(ctypes.c_float), [pointer, number]),
    ]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Model:
    def __init__(self, path):
        self.llama = load_library()
        self.log = []
        self.on_log = LogCallback(lambda level, text, _: self.log.append(text.decode(errors="replace")))
        self.llama.llama_log_set(self.on_log, None)
        self.llama.llama_backend_init()
        self.model = self.llama.llama_model_load_from_file(path.encode(), self.llama.llama_model_default_params())
        if not self.model:
            sys.exit("".join(self.log) + f"llama.cpp does not load {path}")
        self.vocab = self.llama.llama_model_get_vocab(self.model)
        self.vocabulary_size = self.llama.llama_vocab_n_tokens(self.vocab)

    def description(self):
        buffer = ctypes.create_string_buffer(200)
        self.llama.llama_model_desc(self.model, buffer, len(buffer))
        return f"{buffer.value.decode()}; {self.llama.llama_print_system_info().decode().strip(' |')}"

    def tokenize(self, text):
        data = text.encode()
        tokens = (ctypes.c_int32 * len(data))()
        count = self.llama.llama_tokenize(self.vocab, data, len(data), tokens, len(tokens), False, True)
        return tokens[:count]

    def spelling(self, token):
        return self.llama.llama_vocab_get_text(self.vocab, token).decode()


class Sequence:
    """One run of the model over at most LENGTH tokens."""

    def __init__(self, model, length, threads):
        self.model, self.llama = model, model.llama
        parameters = self.llama.llama_context_default_params()
        parameters.n_ctx = parameters.n_batch = length
        self.context = self.llama.llama_init_from_model(model.model, parameters)
        if not self.context:
            sys.exit("".join(model.log) + "llama.cpp makes no context")
        self.llama.llama_set_n_threads(self.context, threads, threads)

    def close(self):
        self.llama.llama_free(self.context)

    def append(self, tokens, first_output):
        """Runs the tokens in one call; the logits of those from first_output on are kept."""
        array = (ctypes.c_int32 * len(tokens))(*tokens)
        batch = self.llama.llama_batch_get_one(array, len(tokens))
        batch.wants_logits = (ctypes.c_int8 * len(tokens))(*(n >= first_output for n in range(len(tokens))))
        status = self.llama.llama_decode(self.context, batch)
        if status != 0:
            sys.exit("".join(self.model.log) + f"llama_decode failed with {status}")

    def best(self, index):
        """The most probable token after the batch's token INDEX, and its lead over the second, in logits."""
        logits = self.llama.llama_get_logits_ith(self.context, index)[: self.model.vocabulary_size]
        first = max(logits)
        token = logits.index(first)
        logits[token] = float("-inf")
        return token, first - max(logits)


class Verdict:
    def __init__(self, model, expected):
        self.model, self.expected = model, expected
        self.right, self.least_lead = 0, float("inf")

    def add(self, token, lead):
        step, wanted = self.right, self.expected[self.right]
        if token != wanted:
            before = "".join(self.model.spelling(t) for t in self.expected[max(0, step - 8) : step])
            print(f"token {step} of the transcript differs: llama.cpp says {self.model.spelling(token)} "
                  f"(lead {lead:g}), expected {self.model.spelling(wanted)}; before it: {before}")
            return False
        self.right += 1
        self.least_lead = min(self.least_lead, lead)
        return True


def check(model, prompt, expected, threads):
    verdict = Verdict(model, expected)
    sequence = Sequence(model, len(prompt) + len(expected), threads)
    start = time.monotonic()
    sequence.append(prompt + expected[:-1], first_output=len(prompt) - 1)
    seconds = time.monotonic() - start
    good = all(verdict.add(*sequence.best(len(prompt) - 1 + step)) for step in range(len(expected)))
    sequence.close()
    count = len(prompt) + len(expected) - 1
    print(f"check: {verdict.right} of {len(expected)} tokens right; {count} tokens in one pass of {seconds:.0f} s, "
          f"{count / seconds:.2f} tokens/s; least lead {verdict.least_lead:g}")
    return good


def write(model, prompt, expected, threads):
    verdict = Verdict(model, expected)
    sequence = Sequence(model, len(prompt) + len(expected), threads)
    start = time.monotonic()
    sequence.append(prompt, first_output=len(prompt) - 1)
    prefilled = time.monotonic()
    token, lead = sequence.best(len(prompt) - 1)
    while verdict.add(token, lead) and verdict.right < len(expected):
        sequence.append([token], first_output=0)
        token, lead = sequence.best(0)
        if verdict.right % 100 == 0:
            print(f"  {verdict.right} tokens, {verdict.right / (time.monotonic() - prefilled):.2f} tokens/s", flush=True)
    seconds, prefill_seconds = time.monotonic() - prefilled, prefilled - start
    sequence.close()
    print(f"write: {verdict.right} of {len(expected)} tokens right; prompt of {len(prompt)} tokens in "
          f"{prefill_seconds:.0f} s, {len(prompt) / prefill_seconds:.2f} tokens/s; then {seconds:.0f} s, "
          f"{verdict.right / seconds:.2f} tokens/s; least lead {verdict.least_lead:g}")
    return verdict.right == len(expected)


def read_transcript(path):
    with open(path, encoding="utf-8") as file:
        match = re.fullmatch(r"qwengpu-transcript 1\n[^\n]*\nprompt:\n(.*)\ntranscript:\n(.*)", file.read(), re.DOTALL)
    if not match:
        sys.exit(f"{path} is not a transcript")
    return [re.findall("<[^>]*>", part) for part in match.groups()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("transcript")
    parser.add_argument("--check", action="store_true", help="one pass over prompt and transcript")
    parser.add_argument("--write", action="store_true", help="only the prompt is given")
    parser.add_argument("--stop-after", type=int, metavar="N", help="only the first N tokens of the transcript")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()

    spellings = read_transcript(options.transcript)
    start = time.monotonic()
    model = Model(options.model)
    print(f"xllamacpp {importlib.metadata.version('xllamacpp')}: {model.description()}; "
          f"loaded in {time.monotonic() - start:.1f} s")
    prompt, expected = (model.tokenize("".join(part)) for part in spellings)
    for part, tokens in zip(spellings, (prompt, expected)):
        if [model.spelling(token) for token in tokens] != part:
            sys.exit("llama.cpp's tokenizer does not split the text into the transcript's tokens")
    expected = expected[: options.stop_after]
    print(f"{options.transcript}: prompt of {len(prompt)} tokens, transcript of {len(expected)}", flush=True)

    good = True
    if options.check or not options.write:
        good = check(model, prompt, expected, options.threads)
    if good and (options.write or not options.check):
        good = write(model, prompt, expected, options.threads)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB, mapped weights included")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
