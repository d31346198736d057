// Tables that are wider than the page are scrolled with the keyboard, too.
function reach() {
  for (const region of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (region.scrollWidth > region.clientWidth) {
      region.tabIndex = 0;
      region.setAttribute("role", "region");
      region.setAttribute("aria-label", "Table");
    } else region.removeAttribute("tabindex");
  }
}
new ResizeObserver(reach).observe(document.body);
addEventListener("load", reach);
