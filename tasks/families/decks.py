"""A presentation in the making: the calls that open, fill and save it."""

from collections.abc import Sequence
from typing import Any

from m3bench.tasks.families.base import call
from m3bench.tasks.task import ReferenceCall

_PLACE = ("slide_index", "presentation_id", "left", "top", "width", "height")
_LOOKS = (
    "font_size", "font_name", "bold", "italic", "color", "bg_color", "alignment", "vertical_alignment", "auto_fit",
)  # fmt: skip


class Deck:
    """A presentation by a name of its own."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.path = f"./media/{name}.pptx"
        self.opening = call("ppt/create_presentation", {"id": name}, free=("id",))
        self.saving = call(
            "ppt/save_presentation",
            {"file_path": self.path, "presentation_id": name},
            free=("file_path", "presentation_id"),
        )

    def template(self, name: str, texts: dict[str, str]) -> ReferenceCall:
        """A slide of a built-in kind."""
        arguments = {"template_id": name, "content_mapping": texts}
        return self._call("create_slide_from_template", arguments, "color_scheme", "layout_index")

    def slide(self, layout: int, title: str) -> ReferenceCall:
        """A slide with a title."""
        looks = ("background_type", "background_colors", "color_scheme", "gradient_direction")
        return self._call("add_slide", {"layout_index": layout, "title": title}, "layout_index", *looks)

    def points(self, slide: int, texts: Sequence[str]) -> ReferenceCall:
        """Bullet points on a slide."""
        arguments = {"slide_index": slide, "placeholder_idx": 1, "bullet_points": list(texts)}
        return self._call("add_bullet_points", arguments, "slide_index")

    def table(self, slide: int, rows: Sequence[Sequence[str]]) -> ReferenceCall:
        """A table on a slide, its first row the heading."""
        arguments = {
            "slide_index": slide, "rows": len(rows), "cols": len(rows[0]),
            "left": 0.6, "top": 2.0, "width": 8.8, "height": 3.6, "data": [list(row) for row in rows],
        }  # fmt: skip
        looks = ("header_font_size", "body_font_size", "header_bg_color", "body_bg_color", "border_color")
        return self._call("add_table", arguments, *_PLACE, *looks)

    def bars(self, slide: int, series: str, names: Sequence[str], values: Sequence[float]) -> ReferenceCall:
        """A bar chart on a slide."""
        arguments = {
            "slide_index": slide, "chart_type": "bar", "left": 0.6, "top": 1.8, "width": 8.8, "height": 5.0,
            "categories": list(names), "series_names": [series], "series_values": [list(values)],
        }  # fmt: skip
        looks = (
            "chart_type", "categories", "series_names", "has_legend", "legend_position", "has_data_labels", "title",
            "x_axis_title", "y_axis_title", "color_scheme",
        )  # fmt: skip
        return self._call("add_chart", arguments, *_PLACE, *looks)

    def image(self, slide: int, path: str) -> ReferenceCall:
        """A picture on a slide."""
        arguments = {
            "slide_index": slide, "operation": "add", "image_source": path, "left": 1.0, "top": 2.8, "width": 6.0,
        }  # fmt: skip
        return self._call("manage_image", arguments, *_PLACE, "enhancement_style", "output_path")

    def text(self, slide: int, text: str, word: str) -> ReferenceCall:
        """A box of text on a slide, in which a word must be."""
        arguments = {
            "slide_index": slide, "operation": "add", "left": 1.0, "top": 1.7, "width": 8.0, "height": 0.9, "text": text,
        }  # fmt: skip
        return self._call("manage_text", arguments, *_PLACE, *_LOOKS, words={"text": [word]})

    def _call(self, tool: str, arguments: dict[str, Any], *free: str, **more: Any) -> ReferenceCall:
        names = dict.fromkeys((*free, "presentation_id"))
        return call(f"ppt/{tool}", {**arguments, "presentation_id": self.id}, free=names, **more)
