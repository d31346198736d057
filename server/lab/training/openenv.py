"""The environment as OpenEnv's protocol has it: a server that its clients, and trainers that use them, can play.

A trainer resets and steps over the WebSocket `/ws` (or by POST, with the session's id), and is told rewards there. The
agent's side is `/mcp?session_id=…`: tools and their answers, and never a reward. This is their wire, spoken by an app
of our own: their package pins other libraries than ours, and is not needed here. First comes what its messages look
like, then the server.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from m3bench.server.lab.training.environment import Environment, EpisodeTurn, RemoteEpisode
from m3bench.tasks.errors import M3Error, RunError, UserError
from m3bench.tasks.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR

NAME = "m3bench"
PROTOCOL = "2025-11-25"
"""Of MCP, for an agent that names none."""

API_VERSION = "1.0.0"
"""Of OpenEnv's HTTP interface."""

_ANY: Mapping[str, Any] = {"type": "object", "additionalProperties": True}
_CALL = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "arguments": _ANY},
    "required": ["name"],
}
SCHEMAS: dict[str, Any] = {
    "action": {
        "type": "object",
        "title": "Action",
        "description": "The calls of one turn, or the answer that ends the episode.",
        "properties": {
            "calls": {"type": "array", "items": _CALL},
            "answer": {"type": ["string", "null"]},
            "fields": {"type": ["object", "null"], "additionalProperties": True},
            "metadata": _ANY,
        },
    },
    "observation": {
        "type": "object",
        "title": "Observation",
        "properties": {
            "results": {"type": "array", "items": _ANY},
            "text": {"type": "string"},
            "metadata": _ANY,
        },
    },
    "reset_observation": {
        "type": "object",
        "title": "ResetObservation",
        "properties": {
            "text": {"type": "string"},
            "content": {"type": "array", "items": _ANY},
            "task": _ANY,
            "tools": {"type": "array", "items": _ANY},
            "metadata": _ANY,
        },
    },
    "state": {
        "type": "object",
        "title": "State",
        "properties": {
            "episode_id": {"type": ["string", "null"]},
            "step_count": {"type": "integer", "minimum": 0},
            "task": {"type": ["string", "null"]},
            "done": {"type": "boolean"},
        },
    },
}

_PATHS = {
    "/reset": "post", "/step": "post", "/state": "get", "/close": "post", "/metadata": "get", "/health": "get",
    "/schema": "get", "/mcp": "post", "/list_environments": "get", f"/{NAME}/splits": "get", f"/{NAME}/tasks": "post",
    f"/{NAME}/num_tasks": "post", f"/{NAME}/task": "post", f"/{NAME}/task_range": "post",
}  # fmt: skip


def openapi() -> dict[str, Any]:
    """The document about the HTTP interface."""
    answer = {"200": {"description": "OK", "content": {"application/json": {"schema": _ANY}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": NAME, "version": API_VERSION},
        "paths": {path: {method: {"responses": answer}} for path, method in _PATHS.items()},
    }


def reset_observation(
    episode: RemoteEpisode, session: str, episode_id: str, tools: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What a client is told when an episode begins: content for the model, pictures with it, and facts."""
    content = episode.opening["content"]
    metadata = {"session_id": session, "episode_id": episode_id}
    return {
        "observation": {
            "text": "\n".join(block["text"] for block in content if block["type"] == "text"),
            "content": content,
            "task": dict(episode.facts),
            "tools": list(tools),
            "metadata": metadata,
        },
        "reward": None,
        "done": False,
        "metadata": metadata,
    }


def turn_data(turn: EpisodeTurn, steps: int) -> dict[str, Any]:
    """What a client is told of a turn; a void episode has no reward, and says why."""
    metadata: dict[str, Any] = {"reward_parts": dict(turn.reward.parts), "step": steps}
    if turn.reward.void:
        metadata["void"] = turn.reward.void
    return {
        "observation": {"results": list(turn.results), "text": "\n".join(turn.texts), "metadata": metadata},
        "reward": turn.reward.total,
        "done": turn.done,
        "metadata": metadata,
    }


MOST_SESSIONS = 256
MAX_MESSAGE_BYTES = 16 * 1024 * 1024


class OpenEnvSession:
    """One episode after the other, for one client."""

    def __init__(self, environment: Environment) -> None:
        self.id = secrets.token_hex(16)
        self.steps = 0
        self._environment = environment
        self._episode: RemoteEpisode | None = None
        self._episode_id: str | None = None
        self._done = False
        self._turn = anyio.Lock()
        self._next = 0

    async def reset(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Begin an episode: of a task by id, by its number, or by what a seed comes to; else of the next one."""
        async with self._turn:
            self.close()
            task = self._task(data)
            tools, pictures = data.get("tools"), data.get("pictures", True)
            episode = await asyncio.wrap_future(
                self._environment.reset_soon(task, tools=tools, attempt=data.get("attempt"), pictures=bool(pictures))
            )
            self._episode, self._done, self.steps = episode, False, 0
            given = data.get("episode_id")
            self._episode_id = given if isinstance(given, str) else str(episode.facts["run"])
            listed = self._environment.tools(tools) if data.get("list_tools") else []
            return reset_observation(episode, self.id, self._episode_id, listed)

    async def step(self, action: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out an action: calls, an answer, or one call as OpenEnv's own action for tools has it."""
        async with self._turn:
            if action.get("type") == "list_tools":
                tools = self._environment.tools()
                return {"observation": {"tools": tools, "metadata": {}}, "reward": None, "done": False}
            self.steps += 1
            return turn_data(await self._acted(action), self.steps)

    async def call(self, name: str, arguments: object) -> dict[str, Any]:
        """The agent's side: one call, and what the tool answered."""
        async with self._turn:
            self.steps += 1
            turn = await self._acted({"calls": [{"name": name, "arguments": arguments}]})
            return dict(turn.results[0]) if turn.results else {"error": {"code": -32000, "message": turn.reward.void}}

    @property
    def state(self) -> dict[str, Any]:
        """Where the session stands."""
        task = self._episode.task if self._episode is not None else None
        return {"episode_id": self._episode_id, "step_count": self.steps, "task": task, "done": self._done}

    def close(self) -> None:
        """Give up the episode that is under way."""
        if self._episode is not None:
            self._episode.close()
            self._episode = None

    async def _acted(self, action: Mapping[str, Any]) -> EpisodeTurn:
        episode = self._episode
        if episode is None:
            raise RunError("No episode has begun: reset first.")
        if self._done:
            raise RunError("This episode is over: reset begins another.")
        if "tool_name" in action:
            action = {"calls": [{"name": action["tool_name"], "arguments": action.get("arguments", {})}]}
        calls, answer, fields = action.get("calls") or [], action.get("answer"), action.get("fields")
        if not isinstance(calls, list) or not all(isinstance(call, dict) and "name" in call for call in calls):
            raise UserError("calls is a list of objects, each with the name of a tool and its arguments.")
        if answer is None:
            turn = await asyncio.wrap_future(episode.step_soon(calls))
        elif calls:
            raise UserError("An action has calls or an answer: hand in the answer in an action of its own.")
        elif not isinstance(answer, str) or not (fields is None or isinstance(fields, dict)):
            raise UserError("answer is a text, and fields an object with the values asked for.")
        else:
            turn = await asyncio.wrap_future(episode.submit_soon(answer, fields))
        self._done = turn.done
        return turn

    def _task(self, data: Mapping[str, Any]) -> str:
        tasks = self._environment.tasks
        named = data.get("task", data.get("task_id"))
        if isinstance(named, str):
            return self._environment.library.task(named).id
        for key in ("index", "seed"):
            number = data.get(key)
            if isinstance(number, int):
                return tasks[number % len(tasks)]
        self._next += 1
        return tasks[(self._next - 1) % len(tasks)]


class OpenEnvServer:
    """The app.

    Args:
        environment: Entered already.
        sessions: How many there may be at a time.
    """

    def __init__(self, environment: Environment, sessions: int = MOST_SESSIONS) -> None:
        self._environment = environment
        self._most = sessions
        self._sessions: dict[str, OpenEnvSession] = {}

    @property
    def app(self) -> ASGIApp:
        """What is served."""
        get, post = ["GET"], ["POST"]
        app = Starlette(
            routes=[
                Route("/health", _health, methods=get),
                Route("/metadata", _metadata, methods=get),
                Route("/schema", _schema, methods=get),
                Route("/openapi.json", _openapi, methods=get),
                Route("/state", self._state, methods=get),
                Route("/reset", self._reset, methods=post),
                Route("/step", self._step, methods=post),
                Route("/close", self._close, methods=post),
                Route("/mcp", self._mcp, methods=post),
                Route("/list_environments", _environments, methods=get),
                Route(f"/{NAME}/splits", self._splits, methods=get),
                Route(f"/{NAME}/{{what:str}}", self._tasks, methods=post),
                WebSocketRoute("/ws", self._ws),
                WebSocketRoute("/mcp", self._mcp_ws),
            ]
        )
        return _ProgramsOnly(app)

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[OpenEnvSession | None]:
        """A session while a connection lasts; None when no more can be opened."""
        session = self._open()
        try:
            yield session
        finally:
            if session is not None:
                self._end(session.id)

    def _open(self) -> OpenEnvSession | None:
        if len(self._sessions) >= self._most:
            return None
        session = OpenEnvSession(self._environment)
        self._sessions[session.id] = session
        return session

    def _end(self, session: str) -> None:
        found = self._sessions.pop(session, None)
        if found is not None:
            found.close()

    async def _ws(self, socket: WebSocket) -> None:
        await socket.accept()
        async with self._session() as session:
            if session is None:
                count = {"active_sessions": len(self._sessions), "max_sessions": self._most}
                await _say(socket, _error("CAPACITY_REACHED", "No more sessions: close one first.", **count))
            else:
                with suppress(WebSocketDisconnect):
                    while (message := await socket.receive_text()) is not None:
                        answer = await self._answer(session, message)
                        if answer is None:
                            break
                        await _say(socket, answer)
        with suppress(RuntimeError, WebSocketDisconnect):
            await socket.close()

    async def _answer(self, session: OpenEnvSession, text: str) -> dict[str, Any] | None:
        """What a message of the WebSocket is answered with; None ends the connection."""
        try:
            message = json.loads(text)
        except ValueError as error:
            return _error("INVALID_JSON", f"Invalid JSON: {error}")
        kind, data = (message.get("type"), message.get("data", {})) if isinstance(message, dict) else (None, {})
        if not isinstance(data, dict):
            return _error("VALIDATION_ERROR", "data is an object.")
        try:
            match kind:
                case "reset":
                    return {"type": "observation", "data": await session.reset(data)}
                case "step":
                    return {"type": "observation", "data": await session.step(data)}
                case "state":
                    return {"type": "state", "data": session.state}
                case "mcp":
                    return {"type": "mcp", "data": await self._rpc(session, data)}
                case "close":
                    return None
        except UserError as error:
            return _error("VALIDATION_ERROR", str(error))
        except M3Error as error:
            return _error("EXECUTION_ERROR", str(error))
        return _error("UNKNOWN_TYPE", f"Unknown message type: {kind}")

    async def _reset(self, request: Request) -> Response:
        data = await _body(request)
        session = self._sessions.get(str(data.get("session_id"))) or self._open()
        if session is None:
            return JSONResponse({"detail": "No more sessions: close one first."}, 503)
        try:
            return JSONResponse(await session.reset(data))
        except M3Error as error:
            return JSONResponse({"detail": str(error)}, 422)

    async def _step(self, request: Request) -> Response:
        data = await _body(request)
        session = self._sessions.get(str(data.get("session_id")))
        if session is None:
            return JSONResponse({"detail": "Give the session_id that reset gave."}, 422)
        try:
            return JSONResponse(await session.step(data.get("action") or {}))
        except M3Error as error:
            return JSONResponse({"detail": str(error)}, 422)

    async def _close(self, request: Request) -> Response:
        self._end(str((await _body(request)).get("session_id")))
        return JSONResponse({"closed": True})

    async def _state(self, request: Request) -> Response:
        session = self._sessions.get(request.query_params.get("session_id", ""))
        if session is None:
            return JSONResponse({"episode_id": None, "step_count": 0, "task": None, "done": False})
        return JSONResponse(session.state)

    async def _mcp(self, request: Request) -> Response:
        session = self._sessions.get(request.query_params.get("session_id", ""))
        try:
            message = await request.json()
        except ValueError:
            return JSONResponse(_rpc_error(None, PARSE_ERROR, "Parse error"))
        if not isinstance(message, dict):
            return JSONResponse(_rpc_error(None, INVALID_REQUEST, "A message is an object."))
        if "id" not in message and isinstance(message.get("method"), str):
            return Response(status_code=202)
        return JSONResponse(await self._rpc(session, message))

    async def _mcp_ws(self, socket: WebSocket) -> None:
        await socket.accept()
        session = self._sessions.get(socket.query_params.get("session_id", ""))
        with suppress(WebSocketDisconnect):
            while (text := await socket.receive_text()) is not None:
                try:
                    message = json.loads(text)
                except ValueError:
                    await _say(socket, _rpc_error(None, PARSE_ERROR, "Parse error"))
                    continue
                await _say(socket, await self._rpc(session, message if isinstance(message, dict) else {}))

    async def _rpc(self, session: OpenEnvSession | None, message: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request of the agent's side."""
        id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if not isinstance(method, str) or not isinstance(params, dict):
            return _rpc_error(id, INVALID_REQUEST, "A request has a method, and an object of params.")
        match method:
            case "initialize":
                about = {"name": NAME, "version": version("m3bench")}
                asked = params.get("protocolVersion") or PROTOCOL
                return _rpc_result(id, {"protocolVersion": asked, "capabilities": {"tools": {}}, "serverInfo": about})
            case "ping":
                return _rpc_result(id, {})
            case "tools/list":
                return _rpc_result(id, {"tools": self._environment.tools()})
            case "tools/call":
                if session is None:
                    return _rpc_error(id, INVALID_PARAMS, "Name an episode: /mcp?session_id=… as reset gave it.")
                try:
                    found = await session.call(str(params.get("name")), params.get("arguments", {}))
                except M3Error as error:
                    return _rpc_error(id, -32000, str(error))
                return {"jsonrpc": "2.0", "id": id, **found}
        return _rpc_error(id, METHOD_NOT_FOUND, f"Unknown method {method!r}")

    async def _splits(self, request: Request) -> Response:
        split = self._environment.options.split
        return JSONResponse([{"name": split, "type": split}])

    async def _tasks(self, request: Request) -> Response:
        """The list of tasks: whole, counted, one, or a part."""
        data = await _body(request)
        ours = data.get("split") == self._environment.options.split
        tasks = [_task(self._environment, id) for id in self._environment.tasks] if ours else []
        match request.path_params["what"]:
            case "tasks":
                return JSONResponse({"tasks": tasks, "env_name": NAME})
            case "num_tasks":
                return JSONResponse({"num_tasks": len(tasks)})
            case "task":
                index = data.get("index")
                if not isinstance(index, int) or not 0 <= index < len(tasks):
                    return JSONResponse({"detail": "Invalid task index"}, 400)
                return JSONResponse({"task": tasks[index]})
            case "task_range":
                return JSONResponse({"tasks": tasks[slice(data.get("start"), data.get("stop"))]})
        return JSONResponse({"detail": "Not Found"}, 404)


class _ProgramsOnly:
    """Turns away pages in a browser: any site that a person visits could otherwise play episodes here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if any(name == b"origin" for name, _ in scope.get("headers", ())):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            await JSONResponse({"detail": "This server is for programs."}, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _task(environment: Environment, id: str) -> dict[str, Any]:
    task = environment.library.task(id)
    return {"id": task.id, "family": task.family, "question": task.question}


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "healthy"})


async def _metadata(request: Request) -> Response:
    about = "Solve tasks that begin with a picture, with 232 tools over a frozen world."
    return JSONResponse({"name": NAME, "description": about, "version": version("m3bench"), "author": "m3bench"})


async def _schema(request: Request) -> Response:
    return JSONResponse(SCHEMAS)


async def _openapi(request: Request) -> Response:
    return JSONResponse(openapi())


async def _environments(request: Request) -> Response:
    return JSONResponse([NAME])


async def _body(request: Request) -> dict[str, Any]:
    try:
        found = await request.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


async def _say(socket: WebSocket, message: Mapping[str, Any]) -> None:
    await socket.send_text(json.dumps(message, ensure_ascii=False, separators=(",", ":")))


def _error(code: str, message: str, **more: object) -> dict[str, Any]:
    return {"type": "error", "data": {"message": message, "code": code, **more}}


def _rpc_result(id: object, result: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def _rpc_error(id: object, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
