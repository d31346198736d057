"""How the clients with a command line are started headless: with our scripted model in place of their own.

Each gets a home of its own with what a person would have there: the model and how to sign in. Our entry is not among
it: `m3bench install` adds that. Keys are words without meaning, addresses are on this machine.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PROMPT = "Start an m3bench task, solve it, submit your answer and show me the score."
KEY = "no-secret"


@dataclass(frozen=True, kw_only=True)
class ClientStart:
    """How one client is started."""

    program: str
    package: str
    """Its package on npm."""
    arguments: tuple[str, ...]
    """With `{url}` for the model's address, `{home}` for the home and `{port}` for a free port."""
    env: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    """Arguments of a run before it, which sets it up."""
    home: Callable[[Path, str], None] = lambda home, url: None
    """Puts into a home what a person has there, given the model's address."""


def _gemini(home: Path, url: str) -> None:
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    _write(home / ".gemini/settings.json", settings)


def _opencode(home: Path, url: str) -> None:
    _write(home / ".config/opencode/opencode.json", _scripted_provider(url))


def _kilo(home: Path, url: str) -> None:
    _write(home / ".config/kilo/kilo.json", _scripted_provider(url))


def _scripted_provider(url: str) -> object:
    """The settings of opencode, and of Kilo, which was made of it."""
    model = {
        "name": "scripted", "tool_call": True, "attachment": True, "limit": {"context": 1_000_000, "output": 32_000},
        "modalities": {"input": ["text", "image"], "output": ["text"]},
    }  # fmt: skip
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "scripted", "models": {"scripted": model},
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
    }  # fmt: skip
    return {
        "autoupdate": False, "share": "disabled", "provider": {"scripted": provider},
        "model": "scripted/scripted", "small_model": "scripted/scripted",
    }  # fmt: skip


def _continue(home: Path, url: str) -> None:
    lines = [
        "name: scripted", "version: 1.0.0", "schema: v1", "models:", "  - name: scripted", "    provider: openai",
        "    model: gpt-4o", f"    apiBase: {url}/v1", f"    apiKey: {KEY}", "    roles: [chat]",
        "    capabilities: [tool_use, image_input]", "    useResponsesApi: false", "    defaultCompletionOptions:",
        "      contextLength: 2000000", "",
    ]  # fmt: skip
    path = home / ".continue/config.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")


def _write(path: Path, data: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


_CODEX_PROVIDER = '{name="scripted",base_url="{url}/v1",env_key="SCRIPTED_KEY",wire_api="responses"}'

STARTS = {
    "claude-code": ClientStart(
        program="claude", package="@anthropic-ai/claude-code",
        arguments=(
            "-p", PROMPT, "--allowedTools", "mcp__m3bench", "--output-format", "stream-json", "--verbose",
        ),
        env={
            "ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": KEY, "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    "codex": ClientStart(
        program="codex", package="@openai/codex",
        arguments=(
            "exec", "-c", f"model_providers.scripted={_CODEX_PROVIDER}", "-c", "model_provider=scripted",
            "-m", "gpt-5.1-codex", "--skip-git-repo-check", "--json", PROMPT,
        ),
        env={"SCRIPTED_KEY": KEY},
    ),
    "gemini": ClientStart(
        program="gemini", package="@google/gemini-cli",
        arguments=("-p", PROMPT, "-m", "gemini-2.5-pro", "--output-format", "stream-json"),
        env={
            "GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        home=_gemini,
    ),
    "opencode": ClientStart(
        program="opencode", package="opencode-ai",
        arguments=("run", "--model", "scripted/scripted", "--format", "json", PROMPT),
        env={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        home=_opencode,
    ),
    "kilo": ClientStart(
        program="kilo", package="@kilocode/cli",
        arguments=("run", "--auto", "--model", "scripted/scripted", "--format", "json", PROMPT),
        env={
            "KILO_DISABLE_AUTOUPDATE": "1", "KILO_DISABLE_MODELS_FETCH": "1", "KILO_DISABLE_SESSION_INGEST": "1",
            "KILO_TELEMETRY_LEVEL": "off",
        },
        home=_kilo,
    ),
    "qwen": ClientStart(
        program="qwen", package="@qwen-code/qwen-code",
        arguments=("-p", PROMPT, "--auth-type", "openai", "--output-format", "stream-json"),
        env={
            "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "{url}/v1", "OPENAI_MODEL": "qwen3-vl-plus",
            "QWEN_CODE_TRUST_WORKSPACE": "true",
        },
    ),
    "cline": ClientStart(
        program="cline", package="cline",
        before=("auth", "-p", "openai", "-k", KEY, "-m", "scripted", "-b", "{url}/v1"),
        arguments=("--json", "--auto-approve", "true", PROMPT),
        env={"CLINE_TELEMETRY_DISABLED": "1", "CLINE_HUB_PORT": "{port}"},
    ),
    "copilot": ClientStart(
        program="copilot", package="@github/copilot",
        arguments=("-p", PROMPT, "--allow-tool", "m3bench", "--no-color"),
        env={
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1", "COPILOT_PROVIDER_API_KEY": KEY, "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false",
        },
    ),
    "continue": ClientStart(
        program="cn", package="@continuedev/cli",
        arguments=("-p", "--auto", PROMPT),
        env={"CONTINUE_TELEMETRY_ENABLED": "0", "CONTINUE_ALLOW_ANONYMOUS_TELEMETRY": "0"},
        home=_continue,
    ),
}  # fmt: skip
"""By the client's key."""
