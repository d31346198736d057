"""Figures the authors of M³-Bench published: context for a leaderboard, never a rank on it.

They came from a prompt-driven text loop over the authors' own servers and tasks, and their average has a judged
column in it; numbers of ours do not compare with them.
"""

SOURCE = "M³-Bench, arXiv 2511.17729, Table 2"

_COLUMNS = (
    "recall", "precision", "argument_similarity", "step_coherence", "order_consistency", "merge_purity",
    "task_completion", "information_grounding", "average_published",
)  # fmt: skip

_FIGURES = """
GLM-4.5V .013 .023 .011 .012 .000 .013 .285 .130 .029
Qwen2.5-VL-72B .143 .073 .125 .125 .022 .112 .303 .388 .141
InternVL-3.5 .224 .143 .193 .191 .048 .161 .325 .298 .179
Gemini-2.5-Flash-Lite .200 .173 .168 .179 .030 .152 .299 .241 .180
Claude-4.5-Haiku .193 .480 .166 .190 .053 .108 .412 .246 .205
GPT-5-Nano .287 .103 .276 .228 .045 .258 .551 .529 .247
Llama-4-Scout .367 .176 .325 .286 .068 .290 .367 .335 .264
Grok-4-Fast .343 .359 .309 .284 .122 .289 .501 .378 .298
Claude-4.5-Sonnet .395 .361 .354 .389 .127 .257 .535 .451 .333
Gemini-2.5-Flash .454 .397 .409 .357 .211 .412 .530 .474 .388
GPT-5-Mini .481 .238 .462 .392 .199 .360 .652 .633 .395
Grok-4 .465 .387 .408 .415 .177 .390 .664 .638 .411
Gemini-2.5-Pro .501 .449 .433 .464 .249 .424 .520 .438 .423
GPT-5 .627 .264 .583 .502 .290 .453 .671 .657 .482
"""

PUBLISHED: tuple[dict[str, str | float], ...] = tuple(
    {"name": name, **dict(zip(_COLUMNS, map(float, numbers), strict=True))}
    for name, *numbers in (line.split() for line in _FIGURES.strip().splitlines())
)
