"""`icons` from the npm package @hugeicons/core-free-icons (MIT): names of icons, with tags of our own.

Run it with the path of the tarball that `npm pack @hugeicons/core-free-icons@4.3.5` leaves. The package has names
and drawings and no tags; an icon gets its words and what `icon_words` says of them. Taken are the icons named by
one or two words we have something to say about, at most three versions of a single word, and after them, so that
numbers stay, more single words (`_USUAL`) and the icons of well-known brands. The drawings are not taken.
"""

import json
import re
import sys
import tarfile
from collections import Counter
from itertools import zip_longest

from m3bench.sandboxes.world import noise, tables
from m3bench.sandboxes.world.build.writing import write

MOST_TAGS = 6
FEATURED_SHARE = 0.05
_EXPORT = re.compile(r"package/dist/esm/(\w+)Icon\.js$")
_HUMPS = re.compile(
    r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Z])(?=[0-9])",
)
_QUALIFIERS = {
    "add", "bottom", "check", "double", "down", "left", "minus", "move", "off", "plus", "remove", "right", "top",
    "turn", "up",
}  # fmt: skip
"""Words that only make a variant of another icon."""
_BRANDS = {
    "airbnb", "amazon", "android", "behance", "bing", "blogger", "bluesky", "bootstrap", "chrome", "claude",
    "codepen", "coinbase", "copilot", "deepseek", "deviantart", "digg", "discord", "dribbble", "dropbox", "envato",
    "facebook", "figma", "fiverr", "flickr", "framer", "github", "gitlab", "google", "grok", "instagram",
    "kickstarter", "klarna", "linkedin", "mastodon", "medium", "messenger", "meta", "microsoft", "nike", "nintendo",
    "notion", "npm", "paypal", "payoneer", "pinterest", "quora", "qwen", "react", "reddit", "replit", "roblox",
    "safari", "shopify", "siri", "skype", "slack", "snapchat", "soundcloud", "spotify", "stripe", "tailwindcss",
    "telegram", "threads", "tiktok", "trello", "tumblr", "twitch", "twitter", "uber", "unsplash", "upwork", "viber",
    "vimeo", "vk", "waze", "webflow", "wechat", "whatsapp", "wikipedia", "wordpress", "xing", "yelp", "youtube",
}  # fmt: skip
_USUAL = """
accident crash; activity pulse; advertisiment advertising; airdrop sharing; airplay cast; ampersand and; android
robot; angel wings; anvil blacksmith; apartment flat; aperture camera; apricot fruit; apron kitchen; archer bow;
armchair seat; asterisk star; atm cash-machine; audit check; avalanche snow; badge award; badminton racket; ban
forbidden; bath bathtub; beaker laboratory; bean vegetable; beef meat; bike bicycle; binary code; biohazard danger;
birdhouse nest; biscuit cookie; blender mixer; blinds window; blueprint plan; boxer fighter; brackets code; brochure
leaflet; bubbles soap; bullet ammunition; cafe coffee; calendars dates; camel desert; camper caravan; captions
subtitles; cardiogram heartbeat; cashier checkout; charity donation; chimney smoke; chopsticks sushi; cigarette
smoking; citrus lemon; clinic hospital; clip paperclip; cloudy overcast; conference meeting; connect link;
constellation stars; contrast brightness; copyright legal; corporate company; crab seafood; crosshair target;
crowdfunding money; curling sport; currency money; curtains window; dessert sweet; detergent laundry; diaper baby;
dices game; directions route; disability wheelchair; domino game; donut doughnut; drama theatre; droplet water;
dropper pipette; drumstick chicken; eclipse sun; eggs breakfast; elder old; ellipsis dots; engine motor; evil devil;
excavator digger; fencing sword; fireworks celebration; flame fire; flashlight torch; flowchart diagram; focus
target; folders directories; footprints steps; forklift warehouse; form input; fortress castle; frame border;
frisbee disc; funnel filter; gameboy console; gauge meter; gavel court; gears settings; ghost spooky; gpu
graphics-card; grape wine; grinning smile; gun weapon; ham meat; handbag purse; handcuffs police; hashtag number;
haze fog; hdd hard-drive; heartbreak love; heater radiator; hologram projection; hotspot wifi; identification id;
images pictures; import upload; infant baby; investigation detective; ipod music-player; judge court; jupiter
planet; kanban board; kettle tea; kettlebell gym; kissing love; knives cutlery; label tag; lake water; landmark
monument; languages translate; laugh funny; lifebuoy rescue; lightbulb idea; litecoin crypto; liver organ; loader
spinner; locked padlock; locker storage; logs journal; mailbox post; maze labyrinth; microchip processor; mining
pickaxe; monster creature; newspaper news; next forward; octopus sea; omega greek; origami paper; paintbrush art;
paperclip attach; patient hospital; pepper spice; physics science; pipeline flow; podium winner; pokeball pokemon;
popsicle ice-cream; potion magic; prawn shrimp; prescription medicine; previous back; prison jail; prisoner jail;
profile user; promotion marketing; punch fist; radiation nuclear; ranking chart; register sign-up; reminder alarm;
replay repeat; rewind back; rhombus diamond; riyal currency; sandals shoes; sandwich lunch; savings money; scale
weight; seal stamp; service support; shampoo hair; shell sea; shredder document; sketch drawing; skull death;
sleeping bed; sneaker shoe; soup bowl; space universe; spaceship rocket; spatula kitchen; sticker label; stone rock;
students school; summation sum; surprise gift; swords fight; tablets pills; tags labels; taxes money; technician
repair; tetris game; tickets events; timeline history; tire wheel; tips advice; tongue mouth; towels bathroom;
trampoline jump; translation languages; treatment therapy; trees forest; trolley cart; tsunami wave; turntable
vinyl; unhappy sad; unlink broken-link; unplug socket; usdt crypto; users people; vaccine injection; vault safe;
vegan plant; venus planet; versus against; vest clothes; vibrate phone; villa house; voicemail message; vote ballot;
voucher coupon; waiter restaurant; walking pedestrian; wallpaper background; waste garbage; wedding marriage;
wellness health; wheat grain; whisk kitchen; whiteboard school; wireless wifi; worm bait; worry anxious; zeppelin
airship
"""
"""Words that the first pass does not have, each with another word for the same."""
_SIGNS = {
    "arrow-up-01": "direction", "arrow-down-01": "direction", "arrow-left-01": "direction",
    "arrow-right-01": "direction", "arrow-up-right-01": "external", "chevron-up": "caret", "chevron-down": "caret",
    "chevron-left": "caret", "chevron-right": "caret", "chevrons-left": "caret", "chevrons-right": "caret",
    "plus": "add", "plus-sign": "add", "minus": "subtract", "minus-sign": "subtract", "divide-sign": "maths",
    "multiplication-sign": "x", "equal-sign": "equals", "thumbs-up": "like", "thumbs-down": "dislike",
    "link-square-02": "external", "menu-01": "hamburger", "more-horizontal": "dots", "more-vertical": "dots",
    "undo": "back", "redo": "again", "remove-circle": "minus", "help-circle": "question",
    "information-circle": "info", "checkmark-circle-01": "done", "tick-double-01": "read", "zoom-in-area": "enlarge",
    "zoom-out-area": "reduce", "sorting-01": "order", "sort-by-down-01": "order", "view-off": "hidden",
}  # fmt: skip
"""Signs of every interface that the passes before leave out as variants, each with another word for it."""
_DEEDS = {
    "Arrows & Shapes",
    "Business & Finance",
    "Files & Documents",
    "Interface & Development",
    "Security",
    "Weather",
}
"""Categories of words that, coming last, say what is done with the thing named first."""


def main(tarball: str) -> None:
    """Write the table."""
    words = {record["word"]: record for record in tables.load("icon_words")}
    with tarfile.open(tarball) as package:
        manifest = package.extractfile("package/package.json")
        assert manifest is not None
        version = json.load(manifest)["version"]
        found = [match[1] for name in package.getnames() if (match := _EXPORT.match(name))]
    kept: list[dict[str, object]] = []
    families: Counter[str] = Counter()
    for name in sorted(_HUMPS.sub("-", export).lower() for export in found):
        parts = [part for part in name.split("-") if not part.isdigit()]
        family = "-".join(parts)
        subjects = [part for part in parts if part in words and part not in _QUALIFIERS]
        if len(subjects) != len(parts) or len(parts) > 2 or families[family] >= (3 if len(parts) == 1 else 1):
            continue
        families[family] += 1
        # One synonym of each word in turn, so that no word of a pair is left without.
        synonyms = [tag for tags in zip_longest(*(words[part]["tags"] for part in subjects)) for tag in tags if tag]
        kept.append(
            {
                "id": len(kept) + 1,
                "name": name,
                "tags": list(dict.fromkeys([*subjects, *synonyms]))[:MOST_TAGS],
                "category": _category([words[part]["category"] for part in subjects]),
                "featured": noise.fraction("icon featured", name) < FEATURED_SHARE,
                "version": noise.pick(("1.0.0", "1.0.0", "1.0.0", "1.1.0", "1.2.0", "2.0.0"), "icon version", family),
            }
        )
    kept += _others(found, {str(icon["name"]) for icon in kept}, len(kept))
    kept += _signs(found, {str(icon["name"]) for icon in kept}, len(kept))
    source = f"Icon names of @hugeicons/core-free-icons {version} (npm); tags and categories are our own."
    write("icons", source, "MIT", kept)


def _others(found: list[str], held: set[str], count: int) -> list[dict[str, object]]:
    """Icons of more single words, each with another word for it, and of brands."""
    usual = dict(pair.split() for pair in _USUAL.split(";"))
    kept: list[dict[str, object]] = []
    for name in sorted(_HUMPS.sub("-", export).lower() for export in found):
        parts = [part for part in name.split("-") if not part.isdigit()]
        brand = parts[0] in _BRANDS or parts[:2] == ["new", "twitter"]
        if name in held or not ((brand and len(parts) <= 3) or (len(parts) == 1 and parts[0] in usual)):
            continue
        said = ["logo", "brand"] if brand else [usual[parts[0]].replace("-", " ")]
        kept.append(
            {
                "id": count + len(kept) + 1,
                "name": name,
                "tags": [*parts, *said][:MOST_TAGS],
                "category": "Logos & Brands" if brand else "Miscellaneous",
                "featured": False,
                "version": "1.0.0",
            }
        )
    return kept


def _signs(found: list[str], held: set[str], count: int) -> list[dict[str, object]]:
    """Signs of every interface, after all others, so that numbers stay."""
    names = sorted({_HUMPS.sub("-", export).lower() for export in found}.intersection(_SIGNS) - held)
    return [
        {
            "id": count + number,
            "name": name,
            "tags": list(dict.fromkeys([*(part for part in name.split("-") if not part.isdigit()), _SIGNS[name]])),
            "category": "Arrows & Shapes",
            "featured": False,
            "version": "1.0.0",
        }
        for number, name in enumerate(names, 1)
    ]


def _category(categories: list[str]) -> str:
    """The last word names the thing (`crane-tower`) unless it only says what is done with it (`cloud-alert`)."""
    return categories[0] if categories[-1] in _DEEDS else categories[-1]


if __name__ == "__main__":
    main(sys.argv[1])
