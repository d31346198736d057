"""The tables of people who sign in, in both kinds of record: what is good once is good once, whoever else asks."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from m3bench.server.commands.checks.address import check_exposure
from m3bench.server.serving.auth.address import PublicAddress
from m3bench.server.serving.auth.clients import OAuthClient
from m3bench.server.serving.auth.grants import ConsentRequest, GrantError, Grants
from m3bench.server.serving.auth.people import People
from m3bench.server.settings import Settings
from m3bench.server.store.backup import backup
from m3bench.server.store.checkup import Checkup
from m3bench.server.store.factory import look_over
from m3bench.server.store.layout import DATABASE, SIGN_INS
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.sign_ins import SignInTables, SignInWork, has_sign_ins, open_sign_ins
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import StoreError
from tests.server.serving.auth.bench import CALLBACK, URL, challenge

VERIFIER = "v" * 43
APP = OAuthClient(id="app", name="App", redirects=(CALLBACK,))


@pytest.fixture
def two(place: RecordLocation) -> Iterator[tuple[SignInTables, SignInTables]]:
    """The tables as two servers have them open."""
    both = open_sign_ins(place), open_sign_ins(place)
    yield both
    for tables in both:
        tables.close()


def signed_in(people: People) -> str:
    """A device on which ann has just signed in."""
    found = people.redeem(people.invite("ann", "play", 1), "192.0.2.1", "")
    assert found
    return found[1]


def allowed(grants: Grants, asked: ConsentRequest, device: str) -> str:
    """A code that ann allowed."""
    code = grants.allow(asked, "ann", device)
    assert code
    return code


def test_a_code_and_a_refresh_token_are_good_once_on_all_servers_together(
    two: tuple[SignInTables, SignInTables],
) -> None:
    grants = [Grants(tables, PublicAddress(URL)) for tables in two]
    device = signed_in(People(two[0]))
    asked = ConsentRequest(
        client="app", client_name="App", redirect=CALLBACK, challenge=challenge(VERIFIER), scopes="play", resource=URL
    )
    code = allowed(grants[0], asked, device)

    def exchange(number: int) -> dict[str, object] | None:
        try:
            return grants[number % 2].exchange_code(APP, code, VERIFIER, CALLBACK, None)
        except GrantError:
            return None

    with ThreadPoolExecutor(6) as threads:
        found = [tokens for tokens in threads.map(exchange, range(6)) if tokens]
    assert len(found) == 1
    # The others were thieves for all that is known: everything has ended, on both servers.
    with pytest.raises(GrantError):
        grants[1].refresh(APP, str(found[0]["refresh_token"]), None, None)

    tokens = grants[0].exchange_code(APP, allowed(grants[0], asked, device), VERIFIER, CALLBACK, None)
    renewed = grants[1].refresh(APP, tokens["refresh_token"], None, None)
    assert grants[0].refresh(APP, renewed["refresh_token"], None, f"{URL}/mcp")["scope"] == "play"
    with pytest.raises(GrantError):
        grants[0].refresh(APP, tokens["refresh_token"], None, None)


def test_what_comes_to_several_servers_at_the_same_time_is_good_once(
    two: tuple[SignInTables, SignInTables],
) -> None:
    grants = [Grants(tables, PublicAddress(URL)) for tables in two]
    device = signed_in(People(two[0]))
    asked = ConsentRequest(
        client="app", client_name="App", redirect=CALLBACK, challenge=challenge(VERIFIER), scopes="play", resource=URL
    )
    tokens = grants[0].exchange_code(APP, allowed(grants[0], asked, device), VERIFIER, CALLBACK, None)
    question = grants[0].ask(asked, device)

    def renew(number: int) -> dict[str, object] | None:
        try:
            return grants[number % 2].refresh(APP, tokens["refresh_token"], None, None)
        except GrantError:
            return None

    with ThreadPoolExecutor(6) as threads:
        renewed = [found for found in threads.map(renew, range(6)) if found]
        answers = list(threads.map(lambda number: grants[number % 2].asked(question, device), range(6)))
    assert len(renewed) == 1
    assert answers.count(asked) == 1
    with pytest.raises(GrantError):
        grants[0].refresh(APP, str(renewed[0]["refresh_token"]), None, None)

    tokens = grants[0].exchange_code(APP, allowed(grants[0], asked, device), VERIFIER, CALLBACK, None)
    two[0].together(lambda work: work.change("UPDATE auth_tokens SET expires = 0 WHERE kind = 'access'"))
    with ThreadPoolExecutor(6) as threads:
        renewed = [found for found in threads.map(renew, range(6)) if found]
    # Each is answered with the same tokens: there is one token more, and not six.
    assert len(renewed) == 6
    assert len({(found["access_token"], found["refresh_token"]) for found in renewed}) == 1
    grants[1].refresh(APP, str(renewed[0]["refresh_token"]), None, None)
    with pytest.raises(GrantError):
        grants[0].refresh(APP, tokens["refresh_token"], None, None)


@pytest.mark.postgres
def test_a_database_that_isolates_more_by_default_loses_nothing(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    url = request.getfixturevalue("postgres").new_database()
    strict = f"{url}{'&' if '?' in url else '?'}options=-c%20default_transaction_isolation%3Dserializable"
    both = [open_sign_ins(RecordLocation(tmp_path, strict)) for _ in range(2)]
    people = [People(tables) for tables in both]
    codes = [people[0].invite(f"person {number}", "play", 1) for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: people[number % 2].redeem(codes[number], f"{number}", "x"), range(8)))
    assert all(found)
    for tables in both:
        tables.close()


def test_whether_anybody_was_invited_is_told_and_nothing_made_by_asking(place: RecordLocation) -> None:
    settings = Settings.of(data=place.folder, store=place.url)
    assert check_exposure(settings) == []
    assert not has_sign_ins(place)
    tables = open_sign_ins(place)
    People(tables).invite("ann", "play", 1)
    tables.close()
    assert has_sign_ins(place)
    (found,) = check_exposure(settings)
    assert "these may sign in: play 1" in found.says


def test_an_invitation_is_good_once_and_a_mistake_leaves_nothing(two: tuple[SignInTables, SignInTables]) -> None:
    people = [People(tables) for tables in two]
    code = people[0].invite("ann", "play watch", 1)
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda number: people[number % 2].redeem(code, f"192.0.2.{number}", "x"), range(6)))
    assert sum(one is not None for one in found) == 1

    def fail(work: SignInWork) -> None:
        work.change("DELETE FROM auth_people")
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        two[0].together(fail)
    (person,) = people[1].overview()
    assert (person.name, person.scopes, len(person.devices), person.invited) == ("ann", "play watch", 1, ())
    with pytest.raises(StoreError):
        two[0].rows("SELECT nothing FROM nowhere")


def test_what_has_run_out_is_forgotten(two: tuple[SignInTables, SignInTables]) -> None:
    now = [0.0]
    people, grants = People(two[0], lambda: now[0]), Grants(two[0], PublicAddress(URL), lambda: now[0])
    found = people.redeem(people.invite("ann", "play", 1), "", "")
    assert found
    people.invite("bob", "play", 1)
    asked = ConsentRequest(
        client="app", client_name="App", redirect=CALLBACK, challenge=challenge(VERIFIER), scopes="play", resource=URL
    )
    now[0] = 1000.0
    grants.exchange_code(APP, allowed(grants, asked, found[1]), VERIFIER, CALLBACK, None)
    for _ in range(30):
        grants.ask(asked, found[1])
    assert two[0].rows("SELECT count(*) FROM auth_requests")[0][0] <= 20
    now[0] += 100 * 86_400
    grants.ask(asked, "other")
    left = {
        table: two[0].rows(f"SELECT count(*) FROM auth_{table}")[0][0]
        for table in ("people", "invitations", "devices", "requests", "grants", "codes", "tokens")
    }
    assert left == {
        "people": 2, "invitations": 0, "devices": 0, "requests": 1, "grants": 0, "codes": 0, "tokens": 0
    }  # fmt: skip


def test_a_record_with_sign_in_is_whole_and_without_it_has_no_such_table(tmp_path: Path) -> None:
    place = RecordLocation(tmp_path / "data")
    open_sign_ins(place).close()
    checkup: Checkup = look_over(place)
    assert not checkup.damage
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        open_sign_ins(RecordLocation(tmp_path / "file"))


def test_a_backup_has_those_who_sign_in_and_their_tokens(tmp_path: Path) -> None:
    place, copied = RecordLocation(tmp_path / "data"), RecordLocation(tmp_path / "copy")
    tables = open_sign_ins(place)
    grants = Grants(tables, PublicAddress(URL))
    found = People(tables).redeem(People(tables).invite("ann", "play", 1), "", "")
    assert found
    asked = ConsentRequest(
        client="app", client_name="App", redirect=CALLBACK, challenge=challenge(VERIFIER), scopes="play", resource=URL
    )
    tokens = grants.exchange_code(APP, allowed(grants, asked, found[1]), VERIFIER, CALLBACK, None)
    assert backup(place.folder, copied.folder) == copied.folder, "while the tables are open, before anybody played"
    tables.close()
    assert (copied.folder / SIGN_INS).stat().st_mode & 0o077 == 0
    again = open_sign_ins(copied)
    device = People(again).on_device(found[1])
    assert device
    assert device.name == "ann"
    assert Grants(again, PublicAddress(URL)).refresh(APP, tokens["refresh_token"], None, None)["scope"] == "play"
    again.close()


def test_a_database_that_is_open_keeps_its_locks_when_it_is_opened_once_more(tmp_path: Path) -> None:
    """Another program that closes a database takes its journal away, unless somebody's lock says that it is needed."""
    place = RecordLocation(tmp_path)
    tables, store = open_sign_ins(place), SqliteStore(tmp_path)
    open_sign_ins(place).close()
    SqliteStore(tmp_path).close()
    write = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('CREATE TABLE other (x)'); c.close()"
    for name in (SIGN_INS, DATABASE):
        subprocess.run([sys.executable, "-c", write, str(tmp_path / name)], check=True, timeout=60)
        assert (tmp_path / f"{name}-wal").exists()
    tables.close()
    store.close()
