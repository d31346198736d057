"""GRPO by TRL on episodes of m3bench: on a processor, with a model of random weights that knows nine words.

    m3bench tasks generate -o mine --seed 11 --family barcode_lookup --per-family 16
    m3bench serve --openenv 127.0.0.1:8000 --tasks mine --split train --reward format=0.5 --reward budget=0.5
    pip install trl==1.16.0 torch
    python trainers/train_trl.py http://127.0.0.1:8000 -o out

Each completion is played as an episode of its task, all of a batch at a time, and its reward is that of the episode. A
void one has none: TRL leaves out what is None. A cluster does the same with a model that writes calls: `reward_of` then
plays what the model said, and the prompt is the episode's own text.
"""

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from episodes import Episode
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, TrainerCallback
from trl import GRPOConfig, GRPOTrainer
from words import WORDS, fitting_tasks, play

GROUP = 8
LONGEST = 6
"""Words of a completion."""


def tokenizer() -> PreTrainedTokenizerFast:
    """One token for each word."""
    special = ["<pad>", "<eos>", "<unk>", "<task>"]
    vocabulary = {word: number for number, word in enumerate([*special, *WORDS])}
    inner = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left"
    )


def model(words: PreTrainedTokenizerFast) -> GPT2LMHeadModel:
    """A model of some ten thousand random numbers."""
    torch.manual_seed(0)
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(words), n_positions=32, n_embd=32, n_layer=1, n_head=2, pad_token_id=words.pad_token_id,
            bos_token_id=words.eos_token_id, eos_token_id=words.eos_token_id,
        )
    )  # fmt: skip


def reward_of(url: str, task: str, completion: str) -> float | None:
    """What an episode comes to in which a completion is said; None when it is void."""
    episode = Episode(url, task)
    try:
        turns = play(episode, [word for word in completion.split() if word in WORDS])
    finally:
        episode.close()
    rewards = [turn.reward for turn in turns]
    return None if None in rewards else sum(reward for reward in rewards if reward is not None)


class Gradients(TrainerCallback):  # type: ignore[misc]
    """Notes how large the gradient is before each step."""

    def __init__(self) -> None:
        self.sizes: list[float] = []

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Note it."""
        slopes = [weight.grad for weight in more["model"].parameters() if weight.grad is not None]
        self.sizes.append(float(torch.stack([slope.norm() for slope in slopes]).norm()))


def train(url: str, tasks: list[str], steps: int, out: Path) -> list[dict[str, Any]]:
    """Train, and tell of each step its rewards, what was said, and the size of the gradient."""
    words, gradients = tokenizer(), Gradients()
    batches: list[dict[str, Any]] = []

    def rewards(completions: Sequence[str], task: Sequence[str], **more: Any) -> list[float | None]:
        with ThreadPoolExecutor(len(completions)) as pool:
            found = list(pool.map(lambda pair: reward_of(url, *pair), zip(task, completions, strict=True)))
        batches.append({"tasks": list(task), "completions": list(completions), "rewards": found})
        return found

    trainer = GRPOTrainer(
        model=model(words),
        reward_funcs=rewards,
        args=GRPOConfig(
            output_dir=str(out), per_device_train_batch_size=GROUP, num_generations=GROUP, max_steps=steps,
            max_completion_length=LONGEST, learning_rate=1e-2, beta=0.0, logging_steps=1, save_strategy="no",
            report_to=[], use_cpu=True, bf16=False, disable_tqdm=True, seed=0,
        ),
        train_dataset=Dataset.from_list([{"prompt": "<task>", "task": task} for task in tasks]),
        processing_class=words,
        callbacks=[gradients],
    )  # fmt: skip
    trainer.train()
    return [
        {"step": step, **batch, "gradient": size}
        for step, (batch, size) in enumerate(zip(batches, gradients.sizes, strict=True))
    ]


def main() -> None:
    """Train for a few steps, and print a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("-o", "--out", type=Path, default=Path("out"))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--split", default="train")
    options = parser.parse_args()
    for line in train(options.url, fitting_tasks(options.url, options.split), options.steps, options.out):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
