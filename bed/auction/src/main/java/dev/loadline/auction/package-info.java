/**
 * The auction site: a web application of RUBiS's shape to record, to load and to break.
 *
 * <p>Terms: an <em>interaction</em> is what one click asks for (view an item, search a category);
 * a <em>page</em> is the HTML that answers it; the <em>opening</em> is the moment that the
 * generated data calls now, so that two runs with one seed see the same auctions.
 *
 * <p>What always holds:
 * <ul>
 * <li>the same seed and sizes give the same rows, on every JDK;
 * <li>a page holds a database connection while it queries and never while it renders or writes;
 * <li>nothing outside the work directory is written, and that directory is deleted at the end;
 * <li>every page carries a marker ({@code <body id="...">}), so that a client can tell it from an
 *     error page without reading it.
 * </ul>
 *
 * <p>{@link dev.loadline.auction.Main} reads the command line, {@link dev.loadline.auction.Auction}
 * puts the parts together, {@code data} generates and queries, {@code web} answers.
 */
package dev.loadline.auction;
