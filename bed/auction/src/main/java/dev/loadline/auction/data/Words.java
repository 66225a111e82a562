package dev.loadline.auction.data;

/** The vocabulary of the generated site. */
final class Words {
    static final String[] CATEGORIES = {
        "Antiques and art", "Books", "Business and office", "Clothing and shoes", "Coins", "Collectables",
        "Computers", "Electronics", "Dolls and figures", "Home and garden", "Jewellery", "Films and DVDs",
        "Music", "Cameras", "Pottery and glass", "Sports", "Stamps", "Tickets", "Toys and games", "Travel",
    };

    static final String[] REGIONS = {
        "Aachen", "Aarhus", "Antwerp", "Athens", "Barcelona", "Basel", "Belfast", "Bergen", "Bern", "Bilbao",
        "Bologna", "Bordeaux", "Bratislava", "Bremen", "Brno", "Bruges", "Budapest", "Cardiff", "Cologne", "Cork",
        "Dresden", "Dublin", "Edinburgh", "Florence", "Gdansk", "Geneva", "Genoa", "Ghent", "Girona", "Graz",
        "Hamburg", "Helsinki", "Innsbruck", "Krakow", "Leeds", "Leipzig", "Lille", "Linz", "Lisbon", "Ljubljana",
        "Lyon", "Madrid", "Malmo", "Marseille", "Milan", "Munich", "Nantes", "Naples", "Nice", "Oslo",
        "Oulu", "Palermo", "Porto", "Prague", "Riga", "Rotterdam", "Salzburg", "Seville", "Tallinn", "Turin",
        "Valencia", "Vilnius",
    };

    static final String[] FIRST = {
        "Ada", "Alan", "Anita", "Barbara", "Butler", "Carol", "Dennis", "Donald", "Edith", "Edsger", "Erna", "Frances",
        "Grace", "Hedy", "Ivan", "Jean", "John", "Karen", "Katherine", "Ken", "Leslie", "Lynn", "Margaret", "Marta",
        "Niklaus", "Peter", "Radia", "Robin", "Sophie", "Tony",
    };

    static final String[] LAST = {
        "Almeida", "Bakker", "Bauer", "Blanc", "Campbell", "Costa", "Dubois", "Eriksen", "Ferrer", "Fischer", "Garcia",
        "Haas", "Ivanova", "Jansen", "Kowalska", "Lindgren", "Moreau", "Nowak", "O'Brien", "Pons", "Quinn", "Rossi",
        "Sala", "Tanaka", "Urban", "Vidal", "Weber", "Young", "Zanetti",
    };

    static final String[] ADJECTIVES = {
        "antique", "blue", "boxed", "brass", "bright", "carved", "classic", "compact", "crimson", "delicate", "early",
        "elegant", "enamelled", "fine", "folding", "framed", "green", "hand-made", "heavy", "ivory-coloured", "large",
        "limited", "miniature", "oak", "original", "painted", "portable", "rare", "restored", "signed", "silver",
        "small", "striped", "unused", "vintage", "walnut",
    };

    static final String[] NOUNS = {
        "amplifier", "armchair", "atlas", "barometer", "bicycle", "binoculars", "bookcase", "bracelet", "camera",
        "chess set", "clock", "coat", "compass", "cup", "desk lamp", "doll", "engraving", "fountain pen", "globe",
        "gramophone", "guitar", "kettle", "keyboard", "lens", "map", "microscope", "mirror", "model train", "music box",
        "painting", "postcard", "poster", "print", "puppet", "puzzle", "radio", "record player", "ring", "rug",
        "sextant", "sledge", "stamp album", "stool", "teapot", "telescope", "tent", "ticket", "tin", "toolbox",
        "typewriter", "vase", "violin", "watch", "writing desk",
    };

    static final String[] SENTENCES = {
        "It comes from a house where nothing was ever thrown away.",
        "There is a small mark on the back that does not show when it stands against a wall.",
        "All moving parts move, and those that should not do not.",
        "The photograph was taken in daylight and shows the true colour.",
        "It was cleaned with care; no polish was used.",
        "Please ask before you bid if anything is unclear.",
        "It will be packed well and sent within two days of payment.",
        "You may also collect it in person on most evenings.",
        "The measurements are given to the nearest centimetre.",
        "I have sold several of these and never had one returned.",
        "The original box is included, a little worn at the corners.",
        "Smoke-free home, with one cat who was kept away from it.",
        "The papers that came with it are included.",
        "Postage is for one piece; further pieces in the same parcel travel free.",
        "It has been in storage for years and deserves to be used again.",
        "I bid on it myself once and have enjoyed it ever since.",
    };

    static final String[] REMARKS = {
        "Exactly as described, and quick.", "Well packed, thank you.", "Came a week late, but came.",
        "Friendly, would buy again.", "Smaller than I had thought; the picture misled me.", "Paid at once.",
        "A pleasure from beginning to end.", "Not as described; the matter was settled fairly.",
        "Good communication, honest price.", "Never answered my question.",
    };

    private Words() {
    }
}
