/* The live view. */

pages.live = (data, root) => { frame(root, "live", []); };
