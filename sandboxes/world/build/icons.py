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
_MORE = """
flask-round laboratory; flask-conical laboratory; washing-machine laundry; t-shirt clothes; zoom-in enlarge;
zoom-out reduce; dark-mode night; toggle-on switch; toggle-off switch; eye-off hide; eye-closed hide;
fire-extinguisher safety; floppy-disk save; test-tube laboratory; sd-card memory; hair-dryer blow; traffic-jam
cars; vacuum-cleaner hoover; x-ray radiology; bar-chart graph; chart-line graph; chart-column graph; chart-area
graph; chart-scatter graph; chart-candlestick trading; chess-bishop board-game; chess-king board-game;
chess-knight board-game; chess-pawn board-game; chess-queen board-game; chess-rook board-game; zodiac-aquarius
horoscope; zodiac-aries horoscope; zodiac-cancer horoscope; zodiac-capricorn horoscope; zodiac-gemini horoscope;
zodiac-leo horoscope; zodiac-libra horoscope; zodiac-pisces horoscope; zodiac-sagittarius horoscope;
zodiac-scorpio horoscope; zodiac-taurus horoscope; zodiac-virgo horoscope; trending-up growth; trending-down
decline; tea-pod teapot; battery-low empty; battery-full charged; battery-empty dead; log-in sign-in; log-out
sign-out; door-open entrance; door-closed entrance; customer-service helpdesk; customer-support helpdesk;
remote-control tv; solar-system planets; taj-mahal india; washington-monument obelisk; india-gate monument;
roller-coaster amusement; ferris-wheel amusement; rocking-chair seat; rocking-horse toy; tape-measure length;
external-link open; fast-forward skip; volume-high loud; volume-low quiet; volume-off mute; wifi-off offline;
no-internet offline; mic-off mute; video-off camera; camera-off hidden; yoga-mat exercise; master-card payment;
super-mario game; rubiks-cube puzzle; toy-train railway; toy-brick lego; rubber-duck bath; party-popper
celebration; fishing-rod angling; safety-pin needle; pocket-knife blade; paint-roller decorate; spray-can
graffiti; pizza-cutter kitchen; rolling-pin baking; milk-carton dairy; soda-can drink; soft-drink soda;
egg-fried breakfast; ice-cubes frozen; candy-cane christmas; cotton-candy sugar; cinnamon-roll pastry;
cake-slice dessert; dim-sum dumpling; coffee-beans roast; bbq-grill barbecue; cooking-pot stew; gas-stove
cooker; dish-washer dishes; bed-single sleep; bed-double sleep; bed-bunk sleep; shower-head bathroom; towel-rack
bathroom; high-heels shoes; sport-shoe sneaker; cowboy-hat western; tank-top clothes; jogger-pants trousers;
travel-bag luggage; airplane-mode flight; airplane-landing arrival; plane-landing arrival; plane-takeoff
departure; speed-train railway; cargo-ship freight; dump-truck construction; tow-truck breakdown; garbage-truck
waste; semi-truck lorry; fuel-station petrol; petrol-pump gasoline; ev-charger electric-car; parking-meter
coins; police-badge sheriff; police-station law; racing-flag finish; football-pitch stadium; basketball-hoop
basket; golf-hole flag; bowling-pins alley; badminton-shuttle sport; american-football rugby; roller-skate
skating; skipping-rope jump; boom-box stereo; cassette-tape music; film-roll movie; audio-lines sound;
closed-caption subtitles; full-screen expand; screen-share present; pencil-line edit; pen-line edit;
color-picker pipette; bounding-box select; paint-bucket fill; open-source licence; git-commit version; html-five
web; java-script code; c-programming code; chat-gpt openai; perplexity-ai search; neural-network deep-learning;
graphic-card gpu; ram-memory computer; memory-stick usb; hdmi-port cable; ethernet-port network; external-drive
backup; digital-clock time; hanging-clock time; time-zone world; falling-star meteor; black-hole space;
moon-eclipse lunar; gibbous-moon phase; rain-drop water; cloud-drizzle rain; cloud-hail storm; fast-wind storm;
sun-dim brightness; rainbow-arc colour; horse-head animal; horse-saddle riding; fish-symbol animal;
tree-deciduous nature; leafy-green vegetable; vine-square video; broken-bone fracture; blood-pressure heart;
blood-type donor; test-tubes laboratory; pills-tablet medicine; medicine-syrup cough; dental-care teeth;
dental-braces teeth; hand-sanitizer hygiene; biceps-flexed muscle; male-symbol gender; female-symbol gender;
non-binary gender; gold-ingots wealth; money-add deposit; loyalty-card points; dollar-sign currency;
pound-sterling currency; indian-rupee currency; japanese-yen currency; swiss-franc currency; turkish-lira
currency; philippine-peso currency; real-estate house; guest-house hotel; meeting-room conference; coming-soon
announcement; exclamation-mark warning; trade-mark legal; creative-commons licence; power-off shut-down;
shut-down power; user-add new; user-check verified; user-love fan; heart-add favourite; heart-check liked;
mail-open read; mail-add new; bookmark-add save; calendar-add new; calendar-check done; file-add new; folder-add
new; folder-open directory; cloud-off offline; lock-open unlock; key-round password; shield-check safe;
package-open box; message-add new; call-end hang-up; phone-off hang-up; phone-incoming ringing; star-half
rating; star-off rating; less-than maths; greater-than maths; plus-minus maths; sort-descending order;
sorting-az alphabet; sorting-za alphabet; rotate-left turn; rotate-right turn; save-all disk; replay-all again;
reply-all answer; text-color font; spell-check proofread; line-style stroke; letter-spacing kerning; at-sign
email; mixer dj; wave sea; polygon shape; oval shape; math formula; matrix table; queue line; stars favourite;
quotes text; sparkle magic; poop emoji; spades cards; clubs cards; pacman game; periscope submarine; napkins
tissue; lectern speech; metronome rhythm; pendulum swing; pulley mechanics; regex pattern; sql database; php
code; png picture; jpg picture; gif picture; svg vector; wav sound; rar archive; columns layout; section layout;
timeline-list events; section-break text; strikethrough text; superscript text; subscript text; tangent maths;
radius circle; diameter circle; median maths; tired sleepy; shocked surprised; suspicious doubt; vomiting sick;
winking smile; nerd glasses; crazy silly; dead skull; annoyed angry; relieved calm; stake pole; terrace balcony;
patio garden; pavilon tent; shrub bush; sakura cherry-blossom; garlands party; hijab headscarf; niqab veil;
keffiyeh scarf; kurta clothes; muhammad calligraphy; prayer-rug muslim; amphora vase; ampoule medicine; caduceus
medicine; mortar pestle; digestion stomach; shoulder joint; sperm fertility; cannabis leaf; candelier lamp; loom
weaving; thread sewing; spool sewing; swarm insects; absolute maths; sigma sum; copyleft licence; perspective
view; drawing-mode sketch; shutterstock photos; gnome linux; gitbook docs; hackerrank coding; leetcode coding;
mistral ai; teamviewer remote; stumbleupon web; slideshare slides; scribd documents; pexels photos; patreon
support; wattpad stories; pocket save; castbox podcast
"""
"""More icons by the names people ask for, of one word or two, each with another word for it; after all others too."""
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
    kept += _more(found, {str(icon["name"]) for icon in kept}, len(kept))
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


def _more(found: list[str], held: set[str], count: int) -> list[dict[str, object]]:
    """Icons of `_MORE`; a word that only numbers tell apart gives its first."""
    other = dict(pair.split() for pair in _MORE.split(";"))
    first: dict[str, str] = {}
    for name in sorted(_HUMPS.sub("-", export).lower() for export in found):
        first.setdefault(re.sub(r"-\d+", "", name), name)
    names = sorted(first[family] for family in other if family in first and first[family] not in held)
    return [_plain(count + number, name, other[re.sub(r"-\d+", "", name)]) for number, name in enumerate(names, 1)]


def _plain(number: int, name: str, other: str) -> dict[str, object]:
    words = [part for part in name.split("-") if not part.isdigit()]
    return {
        "id": number,
        "name": name,
        "tags": list(dict.fromkeys([*words, other.replace("-", " ")]))[:MOST_TAGS],
        "category": "Miscellaneous",
        "featured": False,
        "version": "1.0.0",
    }


def _category(categories: list[str]) -> str:
    """The last word names the thing (`crane-tower`) unless it only says what is done with it (`cloud-alert`)."""
    return categories[0] if categories[-1] in _DEEDS else categories[-1]


if __name__ == "__main__":
    main(sys.argv[1])
