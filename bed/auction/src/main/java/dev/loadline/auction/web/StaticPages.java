package dev.loadline.auction.web;

/** The pages that are the same for everybody: home, browse, about. */
final class StaticPages {
    private StaticPages() {
    }

    static String home() {
        return new Html("home", "Welcome").raw("""
            <p>Thousands of things look for a new home. Some are beautiful, some are useful, a few are both, and all of
            them end within a week.</p>
            <section>
            <h2>Where to begin</h2>
            <ul>
            <li><a href="/browse">Browse</a> what is for sale</li>
            <li><a href="/categories">Choose a category</a>: from antiques to travel</li>
            <li><a href="/regions">Choose a region</a> and collect what you buy in person</li>
            <li><a href="/register">Register</a>, then <a href="/sell">sell</a></li>
            <li><a href="/me/login">See</a> what you have bid, bought and sold</li>
            <li><a href="/about.html">Read how it works</a></li>
            </ul>
            </section>
            <section>
            <h2>How to bid</h2>
            <p>An auction runs up to two weeks. Whoever has bid most when it ends buys. Every bid must be higher than the
            one before it; who has bid is shown in the item's bid history, and what others think of a seller on the
            seller's own page.</p>
            </section>
            """).end(null);
    }

    static String browse() {
        return new Html("browse", "Browse").raw("""
            <p>There are two ways through the catalogue.</p>
            <ul>
            <li><a href="/categories"><img src="/images/photo-1.png" alt="" width="96" height="72"> By category</a>:
            everything of one kind, wherever it stands.</li>
            <li><a href="/regions"><img src="/images/photo-2.png" alt="" width="96" height="72"> By region</a>:
            what you can collect yourself, then by kind.</li>
            </ul>
            <p>Lists show twenty items a page, those that end first on top.</p>
            """).end(null);
    }

    static String about() {
        return new Html("about", "About").raw("""
            <p>The Auction is a web site with the shape of RUBiS, the Rice University Bidding System: categories, regions,
            items, bids, users and what they say about one another. It exists to be loaded, recorded and broken.</p>
            <section>
            <h2>What it is made of</h2>
            <p>Servlets on Tomcat, a pool of database connections, a database in the same process, and TLS as everybody
            uses it. Every page asks the database for what it shows and gives the connection back before it writes.</p>
            </section>
            <section>
            <h2>What it is not</h2>
            <p>It is not slow by accident. Every query has its index, the pool is neither starved nor endless, and a page
            costs what its TLS and its HTML cost. If it is slow, something else is the reason, and finding that reason is
            what it is for.</p>
            </section>
            <section>
            <h2>Who sells here</h2>
            <p>Nobody. Names, prices, bids and remarks are drawn from a seed. The same seed draws the same.</p>
            </section>
            """).end(null);
    }
}
