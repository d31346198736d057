"""The pages on which people sign in and allow a client to play as them: plain HTML without scripts."""

import base64
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse

from m3bench.server.serving.auth.clients import OAuthClient
from m3bench.server.serving.auth.grants import ConsentRequest
from m3bench.server.serving.auth.identity import SCOPES
from m3bench.server.serving.auth.people import PersonOverview

_STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;"
    "background:#fff}h1{font-size:1.5rem}code{overflow-wrap:anywhere}input{font:inherit;padding:.5rem;width:100%;"
    "box-sizing:border-box}button{font:inherit;padding:.5rem 1.25rem;margin:.75rem .5rem 0 0}"
    ".wrong{border-left:.25rem solid #a40000;padding-left:.75rem}"
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}a{color:#9cf}}"
)
_STYLE_HASH = base64.b64encode(sha256(_STYLE.encode()).digest()).decode()

RECORDED = (
    "This server is a benchmark. It records every call that the client makes here, with arguments and answers, the "
    "name of the client, and your name; its operator can read all of that. Your conversation stays with your client."
)


def page(title: str, body: str, status: int = 200, *, sent_to: str | None = None) -> HTMLResponse:
    """A page.

    Args:
        title: Of the page.
        body: HTML.
        status: Of the response.
        sent_to: Where the page's form finally leads, which its content security policy must allow.
    """
    html = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)} · m3bench</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
    response = HTMLResponse(html, status)
    response.headers.update(secure_headers(sent_to))
    return response


def secure_headers(sent_to: str | None = None) -> dict[str, str]:
    """What browsers are told about a page: no frame, no script, no trace of its address elsewhere."""
    forms = "'self'" + (f" {_source(sent_to)}" if sent_to else "")
    return {
        "cache-control": "no-store",
        "content-security-policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action {forms}; "
        "frame-ancestors 'none'; base-uri 'none'",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "cross-origin-opener-policy": "same-origin",
        # With no-referrer a browser would send forms with the origin `null`, which is refused.
        "referrer-policy": "same-origin",
    }


def wrong_page(text: str, status: int = 400) -> HTMLResponse:
    """Says what is wrong, without sending the person anywhere."""
    return page("That did not work", f'<p role="alert" class="wrong">{escape(text)}</p>', status)


def failed_page(why: str, redirect: str, back: str) -> HTMLResponse:
    """Says what is wrong with what a client asked for; whoever knows where that client is may go back to it."""
    return page(
        "That did not work",
        f'<p role="alert" class="wrong">The client that sent you asked for something impossible: {escape(why)}.</p>'
        f"<p>If you have just started this at <code>{escape(_place(redirect))}</code> yourself, "
        f'<a href="{escape(back)}">go back</a>; otherwise close this page.</p>',
        400,
    )


def sign_in_page(goes_on: str, code: str = "", problem: str = "", status: int = 200) -> HTMLResponse:
    """Asks for the code of an invitation."""
    alert = f'<p role="alert" class="wrong">{escape(problem)}</p>' if problem else ""
    return page(
        "Sign in",
        f'{alert}<form method="post" action="/auth/sign-in"><input type="hidden" name="next" value="{escape(goes_on)}">'
        '<p><label for="code">The code of your invitation</label></p>'
        f'<input id="code" name="code" value="{escape(code)}" autocomplete="one-time-code" autocapitalize="characters" '
        f'spellcheck="false" required><button>Sign in</button></form><p>This device then stays signed in for 30 days. '
        "A code works once; the operator of this server can give you another one.</p>",
        status,
    )


def consent_page(request: ConsentRequest, client: OAuthClient, person: str, secret: str) -> HTMLResponse:
    """Asks a person to allow a client."""
    to = escape(_place(request.redirect))
    items = "".join(f"<li>{escape(SCOPES[scope])}</li>" for scope in request.scopes.split())
    if client.kind == "document":
        known = f"It is described at <code>{escape(client.id)}</code>."
    elif client.kind == "fixed":
        known = "The operator of this server set it up."
    else:
        known = "It chose this name itself, and nobody checked it."
    return page(
        "Allow this client?",
        f"<p><strong>{escape(client.name)}</strong> asks to act here as <strong>{escape(person)}</strong>. {known}</p>"
        f"<p>You will be sent to <code>{to}</code>. Go on only if you have just started this there yourself.</p>"
        f"<p>It may then:</p><ul>{items}</ul><p>{RECORDED}</p>"
        f'<form method="post" action="/auth/consent"><input type="hidden" name="request" value="{escape(secret)}">'
        '<button name="answer" value="allow">Allow</button><button name="answer" value="refuse">Refuse</button></form>'
        '<p>You can end this at any time on <a href="/auth/">your page</a>.</p>',
        sent_to=request.redirect,
    )


def own_page(person: PersonOverview, here: str) -> HTMLResponse:
    """Shows people what they allowed and where they are signed in, and ends either.

    Args:
        person: Who looks.
        here: The name of the device on which they look.
    """
    apps = "".join(
        f'<li><form method="post" action="/auth/end"><input type="hidden" name="app" value="{escape(app.id)}">'
        f"<strong>{escape(app.name)}</strong>: {escape(app.scopes)}, since {_day(app.made)} "
        f'<button aria-label="End {escape(app.name)}">End</button></form></li>'
        for app in person.apps
    )
    devices = "".join(
        f"<li>{escape(device.agent or 'a browser')}, since {_day(device.made)}"
        + (
            " (this one)</li>"
            if device.name == here
            else f'<form method="post" action="/auth/end"><button name="device" value="{escape(device.name)}">'
            "Sign out</button></form></li>"
        )
        for device in person.devices
    )
    return page(
        f"Signed in as {person.name}",
        f"<h2>Clients</h2>{f'<ul>{apps}</ul>' if apps else '<p>None.</p>'}<h2>Devices</h2><ul>{devices}</ul>"
        '<form method="post" action="/auth/sign-out"><button>Sign this device out</button></form>'
        f'<p>{RECORDED}</p><p><a href="/">What happens on this server</a></p>',
    )


def _place(redirect: str) -> str:
    found = urlsplit(redirect)
    return f"{found.scheme}://{found.netloc}" if found.netloc else f"{found.scheme}:"


def _source(redirect: str) -> str:
    """A redirect URI as a source of a content security policy, which knows no IPv6 and no private names."""
    found = urlsplit(redirect)
    named = found.scheme in ("http", "https") and "[" not in found.netloc
    return f"{found.scheme}://{found.netloc}" if named else f"{found.scheme}:"


def _day(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d")
