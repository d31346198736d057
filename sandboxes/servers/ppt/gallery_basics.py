"""Templates for the slides every talk has: title, points, columns, agenda, chapter, table, charts, picture."""

from m3bench.sandboxes.servers.ppt.blueprints import Blueprint, Box, Grid, Panel, Picture, Plot, Repeat, Text

_FIGURES = "North: 42\nSouth: 31\nEast: 27\nWest: 36"


def titled(box: Box = (6, 5, 88, 12), sample: str = "Slide title") -> tuple[Text, Panel]:
    """The title most content slides share, with a short bar beneath."""
    left, top, _, height = box
    return (
        Text("title", box, sample, 32, colour="primary", bold=True, anchor="middle"),
        Panel((left + 1, top + height + 0.6, 12, 0.9), "accent1", of="title"),
    )


def column(side: str, left: float, top: float, width: float, height: float, on: str = "white") -> tuple[Text, Text]:
    """A heading with text under it."""
    return (
        Text(
            f"header_{side}",
            (left, top, width, 8),
            f"{side.capitalize()} heading",
            20,
            on=on,
            colour="primary" if on == "white" else None,
            bold=True,
            anchor="middle",
        ),
        Text(
            f"content_{side}",
            (left, top + 9, width, height - 9),
            "First point\nSecond point\nThird point",
            18,
            on=on,
            style="bullets",
        ),
    )


BASICS = (
    Blueprint(
        id="title_slide",
        name="Title slide",
        description="Opens a presentation: title, subtitle and author on a dark gradient",
        kind="title",
        background="gradient",
        elements=(
            Panel((78, -16, 36, 48), "secondary", shape="oval", circle=True, transparency=0.75),
            Panel((88, 10, 22, 30), "accent1", shape="oval", circle=True, transparency=0.75),
            Text("title", (7, 17, 84, 35), "Presentation title", 44, on="primary", bold=True, anchor="bottom"),
            Panel((8, 54, 16, 0.9), "accent1", of="title"),
            Text("subtitle", (7, 57, 84, 22), "What it is about", 24, on="primary"),
            Text("author", (7, 85, 84, 8), "Author name", 16, on="primary", anchor="middle"),
        ),
    ),
    Blueprint(
        id="text_with_image",
        name="Text with image",
        description="Points on the left, a picture with a caption on the right",
        kind="content_image",
        background="white",
        elements=(
            *titled(),
            Text("content", (6, 23, 43, 69), "First point\nSecond point\nThird point", 20, style="bullets"),
            Picture("image", (53, 23, 41, 62)),
            Text("caption", (53, 86, 41, 7), "What the picture shows", 12, italic=True),
        ),
    ),
    Blueprint(
        id="two_column_text",
        name="Two columns",
        description="Two lists side by side, each with a heading",
        kind="two_columns",
        background="white",
        elements=(
            *titled(),
            *column("left", 6, 22, 42, 71),
            Panel((49.8, 24, 0.4, 67), "secondary", soften=0.6),
            *column("right", 52, 22, 42, 71),
        ),
    ),
    Blueprint(
        id="two_column_text_images",
        name="Two columns with images",
        description="Two pictures side by side with text under each",
        kind="two_columns_images",
        background="white",
        elements=(
            *titled(),
            Picture("image_left", (6, 22, 42, 38)),
            Text("content_left", (6, 62, 42, 31), "About the left picture", 18),
            Picture("image_right", (52, 22, 42, 38)),
            Text("content_right", (52, 62, 42, 31), "About the right picture", 18),
        ),
    ),
    Blueprint(
        id="three_column_layout",
        name="Three columns",
        description="Up to three cards, each with a heading and text",
        kind="three_columns",
        background="white",
        elements=(
            *titled(),
            Repeat(
                box=(6, 23, 88, 69),
                count=3,
                columns=3,
                gap=3,
                parts=(
                    Panel((0, 0, 100, 100), "light"),
                    Panel((0, 0, 100, 1.6), "accent1"),
                    Text(
                        "header_{n}",
                        (5, 4, 90, 16),
                        "Heading {n}",
                        20,
                        on="light",
                        colour="primary",
                        bold=True,
                        anchor="middle",
                    ),
                    Text("content_{n}", (5, 22, 90, 74), "Text of column {n}", 16, on="light"),
                ),
            ),
        ),
    ),
    Blueprint(
        id="agenda_slide",
        name="Agenda",
        description="A numbered list of topics beside a coloured title panel",
        kind="agenda",
        background="white",
        elements=(
            Panel((0, 0, 34, 100), "primary"),
            Panel((34, 0, 0.9, 100), "accent1"),
            Text("title", (3, 28, 29, 44), "Agenda", 36, on="primary", bold=True, anchor="middle"),
            Text(
                "agenda_items",
                (39, 10, 56, 80),
                "Where we stand\nWhat we found\nWhat comes next",
                24,
                anchor="middle",
                style="numbers",
            ),
        ),
    ),
    Blueprint(
        id="chapter_intro",
        name="Chapter",
        description="Opens a section: its number, its title and a line on it",
        kind="section",
        background="primary",
        elements=(
            Panel((66, 52, 60, 80), "secondary", shape="oval", circle=True, transparency=0.75),
            Text("chapter_number", (7, 12, 50, 27), "01", 88, on="primary", bold=True, anchor="bottom"),
            Panel((8, 41, 12, 1), "accent1"),
            Text("title", (7, 44, 84, 24), "Chapter title", 40, on="primary", bold=True),
            Text("subtitle", (7, 70, 76, 20), "What this chapter covers", 20, on="primary"),
        ),
    ),
    Blueprint(
        id="thank_you_slide",
        name="Thank you",
        description="Closes a presentation: thanks, a last line and how to get in touch",
        kind="closing",
        background="gradient",
        elements=(
            Panel((-16, 58, 44, 58), "accent1", shape="oval", circle=True, transparency=0.8),
            Text("title", (8, 20, 84, 30), "Thank you", 54, on="primary", bold=True, align="center", anchor="bottom"),
            Panel((43, 52, 14, 0.9), "accent1"),
            Text("subtitle", (8, 55, 84, 18), "Questions?", 24, on="primary", align="center"),
            Text("contact", (8, 82, 84, 11), "name@example.org", 16, on="primary", align="center", anchor="middle"),
        ),
    ),
    Blueprint(
        id="timeline_slide",
        name="Timeline",
        description="Up to six dated events along a line",
        kind="timeline",
        background="white",
        elements=(
            *titled(),
            Panel((5, 50.4, 90, 0.7), "secondary", soften=0.3),
            Repeat(
                box=(5, 24, 90, 66),
                count=6,
                columns=6,
                gap=1,
                parts=(
                    Text(
                        "date_{n}",
                        (0, 5, 100, 27),
                        "Year {n}",
                        20,
                        colour="primary",
                        bold=True,
                        align="center",
                        anchor="bottom",
                    ),
                    Panel((30, 37, 40, 7), "accent1", shape="oval", circle=True),
                    Text("event_{n}", (0, 48, 100, 50), "What happened", 16, align="center"),
                ),
            ),
        ),
    ),
    Blueprint(
        id="data_table_slide",
        name="Data table",
        description="A table from lines of text with cells between |, the first line being the header",
        kind="table",
        background="white",
        elements=(
            *titled(),
            Grid("table", (6, 23, 88, 61), "Region | Sales | Change\nNorth | 42 | +3\nSouth | 31 | -1"),
            Text("caption", (6, 87, 88, 7), "Source of the figures", 12, italic=True),
        ),
    ),
    Blueprint(
        id="chart_comparison",
        name="Two charts",
        description="Two column charts side by side, from lines such as 'North: 42', with a conclusion",
        kind="charts",
        background="white",
        elements=(
            *titled(),
            Text(
                "header_left",
                (6, 21, 42, 7),
                "Before",
                18,
                colour="primary",
                bold=True,
                align="center",
                anchor="middle",
            ),
            Plot("chart_left", (6, 29, 42, 48), _FIGURES),
            Text(
                "header_right",
                (52, 21, 42, 7),
                "After",
                18,
                colour="primary",
                bold=True,
                align="center",
                anchor="middle",
            ),
            Plot("chart_right", (52, 29, 42, 48), _FIGURES),
            Panel((6, 80, 88, 13), "light", of="insight"),
            Text("insight", (8, 81, 84, 11), "What the two charts tell", 16, on="light", anchor="middle"),
        ),
    ),
    Blueprint(
        id="full_image_slide",
        name="Full image",
        description="A picture over the whole slide with a title on a dark band",
        kind="image",
        background="primary",
        elements=(
            Picture("image", (0, 0, 100, 100)),
            Panel((0, 68, 100, 32), "primary", transparency=0.15),
            Text("title", (6, 69.5, 88, 16), "Title over the picture", 34, on="primary", bold=True, anchor="bottom"),
            Text("caption", (6, 86, 88, 11), "What the picture shows", 18, on="primary"),
        ),
    ),
)
"""In the order they are listed."""
