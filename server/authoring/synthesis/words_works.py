"""Words for works: films, books, articles, papers and works of art."""

from m3bench.server.authoring.synthesis.lexicon import Ask, Harvest, Option, Pick, Start, Words

WORDS = (
    Words(
        "tmdb/search_movies",
        start=Start(
            "query",
            "Film",
            "film",
            "films",
            name="title",
            harvest=Harvest(
                "tmdb/search_movies",
                tuple(
                    {"query": word} for word in ("the", "love", "night", "king", "star", "city", "man", "war", "life")
                ),
                "title",
            ),
            source="in the film database",
        ),
        asks=(
            Ask("vote_average", "its average vote", "number", "the average votes", 0.01, ("mean", "subtract")),
            Ask("vote_count", "how many people voted on it", "number", "the numbers of votes", 0.5, ("sum",)),
        ),
    ),
    Words(
        "openlibrary_mcp/get_book_info",
        start=Start(
            "isbn",
            "ISBN",
            "book number (ISBN)",
            "book numbers (ISBNs)",
            exact=True,
            harvest=Harvest(
                "amazon/search_products",
                tuple(
                    {"keywords": word, "n": 20}
                    for word in ("novel", "book penguin classics", "paperback fiction", "hardcover history")
                ),
                "/\\/dp\\/(\\d{9}[\\dX])\\b/",
            ),
            values=("9780132350884", "9780553293357", "9780670856688"),
            source="in the library's catalogue",
        ),
        asks=(
            Ask("metadata.title", "the book's title"),
            Ask(
                "metadata.pages", "how many pages the book has", "number", "the numbers of pages", 0.5, ("sum", "mean")
            ),
        ),
    ),
    Words(
        "wiki/summary",
        asks=(
            Ask(
                r"/^\*\*[^\n]+\*\*\n([^\n]{4,70})\n/", "the one-line description that the encyclopedia gives of {what}"
            ),
        ),
    ),
    Words(
        "metmuseum-mcp/search-museum-objects",
        start=Start(
            "q",
            "Looking for",
            "search term for the Met's collection",
            "search terms for the Met's collection",
            values=(
                "amphora",
                "kouros",
                "hippopotamus",
                "sphinx",
                "dancing class",
                "wheat field",
                "armor",
                "harp",
                "vase",
                "portrait of a woman",
                "bronze",
                "violin",
                "mask",
                "tapestry",
                "helmet",
                "guitar",
                "bowl",
            ),
        ),
        noun="object",
        options=(Option({}, "object", "that a search of the museum's collection lists first"),),
    ),
    Words(
        "metmuseum-mcp/get-museum-object",
        asks=(
            Ask("Title", "its title"),
            Ask("Medium", "what it is made of"),
            Ask("Credit Line", "its credit line"),
            Ask("Artist", "who made it"),
        ),
        fixed={"returnImage": False},
    ),
    Words(
        "paper_search/search_arxiv",
        start=Start(
            "query",
            "Topic",
            "research topic",
            "research topics",
            {"max_results": 5},
            values=(
                "zebra",
                "bee",
                "whale",
                "elephant",
                "kangaroo",
                "dolphin",
                "rabbit",
                "penguin",
                "giraffe",
                "owl",
                "fox",
            ),
            source="on arXiv",
        ),
        noun="paper",
        name="title",
        alike=True,
        picks=(Pick("published_date", "newest"), Pick("published_date", "oldest", highest=False)),
        options=(Option({}, "paper", "among the first five that a search for it brings up"),),
    ),
    Words(
        "paper_search/download_arxiv",
        fixed={"save_path": "./papers"},
        file="papers/*.pdf",
        task="save the paper as a PDF in a folder called papers",
    ),
    Words(
        "healthcare-mcp/pubmed_search",
        start=Start(
            "query",
            "Topic",
            "medical topic",
            "medical topics",
            {"max_results": 5},
            values=(
                "frozen shoulder",
                "hypertension",
                "asthma",
                "migraine",
                "insomnia",
                "psoriasis",
                "gout",
                "anemia",
                "amoxicillin",
                "prednisolone",
                "warfarin",
                "diabetes",
                "pneumonia",
                "eczema",
            ),
            source="on PubMed",
        ),
        noun="article",
        name="title",
        options=(Option({}, "article", "that a search for it lists first"),),
        asks=(),
    ),
    Words(
        "paper_search/get_crossref_paper_by_doi",
        asks=(
            Ask(
                "citations", "how often it was cited, by its DOI record", "number", "the citation counts", 0.5, ("sum",)
            ),
        ),
    ),
)
