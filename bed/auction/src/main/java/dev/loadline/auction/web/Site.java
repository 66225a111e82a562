package dev.loadline.auction.web;

import dev.loadline.auction.data.Store;
import dev.loadline.auction.fault.Fault;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import java.io.IOException;
import java.net.BindException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardService;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.util.ServerInfo;
import org.apache.catalina.valves.ErrorReportValve;
import org.apache.tomcat.util.IntrospectionUtils;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.IntrospectionUtils;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.apache.tomcat.util.http.Rfc6265CookieProcessor;

/** The web server: an embedded Tomcat with one context. */
public final class Site {
    private static final int SESSION_MINUTES = 10;
    private static final long GRACE_MS = 2_000;
    private static final String STATIC = "Static";

    private final Tomcat tomcat = new Tomcat();
    private final Connector https;
    private final Connector http;
    private final List<String> pages = new ArrayList<>();

    /** Prepares a site whose images are drawn from {@code seed}. */
    public Site(Path work, Connectors connectors, Store store, long seed, Fault fault) {
        tomcat.setBaseDir(work.toString());
        https = connectors.https();
        tomcat.getService().addConnector(https);
        http = connectors.http();
        if (http != null) {
            tomcat.getService().addConnector(http);
        }
        ((StandardService) tomcat.getService()).setGracefulStopAwaitMillis(GRACE_MS);
        var errors = new ErrorReportValve();
        // What Tomcat itself refuses gets a status and no story.
        errors.setShowReport(false);
        errors.setShowServerInfo(false);
        tomcat.getHost().getPipeline().addValve(errors);
        Context context = tomcat.addContext("", work.toString());
        context.setSessionTimeout(SESSION_MINUTES);
        context.setRequestCharacterEncoding("UTF-8");
        var cookies = new Rfc6265CookieProcessor();
        cookies.setSameSiteCookies("lax");
        context.setCookieProcessor(cookies);
        // Tomcat would look for leaks of a reloaded application, by reflection that JDK 17 forbids.
        // Nothing is reloaded here: the context ends with its JVM. Set by name, for not every Tomcat has each.
        for (String leak : List.of("ThreadLocals", "RmiTargets", "ObjectStreamClassCaches")) {
            IntrospectionUtils.setProperty(context, "clearReferences" + leak, "false");
        }
        servlets(context, store, seed);
        fault.aroundPages(work).ifPresent(filter -> filter(context, "FaultAroundPages", filter, pages));
        fault.aroundImages(work).ifPresent(filter -> filter(context, "FaultAroundImages", filter, List.of(STATIC)));
    }

    private void servlets(Context context, Store store, long seed) {
        // The names are those of RUBiS's interactions, as far as one servlet is one: they are what a
        // recording shows. A form that is posted back to its page's path is in the same servlet.
        var files = new StaticFiles(seed);
        page(context, "BrowseCategories", new BrowseCategories(store), "/categories");
        page(context, "BrowseRegions", new BrowseRegions(store), "/regions");
        page(context, "SearchItems", new Search(store), "/search");
        page(context, "ViewItem", new ViewItem(store), "/item");
        page(context, "ViewBidHistory", new ViewBidHistory(store), "/bids");
        page(context, "ViewUserInfo", new ViewUserInfo(store), "/user");
        page(context, "RegisterUser", new RegisterUser(store, files), RegisterUser.FORM, "/registered");
        page(context, "PutBidAuth", new Auth(store, "bid", "Bid"), "/bid/login");
        page(context, "PutBid", new PutBid(store), "/bid");
        page(context, "BidStored", new ItemDone(store, "item", "bid-stored", "Your bid is stored."), "/bid/done");
        page(context, "BuyNowAuth", new Auth(store, "buy", "Buy it now"), "/buy/login");
        page(context, "BuyNow", new BuyNow(store), "/buy");
        page(context, "Bought", new ItemDone(store, "item", "bought", "It is yours."), "/buy/done");
        page(context, "PutCommentAuth", new Auth(store, "comment", "Leave a comment"), "/comment/login");
        page(context, "PutComment", new PutComment(store), "/comment");
        page(context, "CommentStored", new CommentStored(store), "/comment/done");
        page(context, "SelectCategoryToSellItem", new SelectCategoryToSell(store, files), SelectCategoryToSell.FORM, "/sell/categories");
        page(context, "SellItemForm", new SellItemForm(store), "/sell/item");
        page(context, "ItemRegistered", new ItemDone(store, "id", "item-registered", "Your item is for sale."), "/sell/done");
        page(context, "AboutMe", new AboutMe(store, files), AboutMe.FORM, "/me");
        page(context, "Logout", new Logout(store), "/logout");
        // The empty pattern is the root alone; "/" takes whatever nobody else answers.
        add(context, STATIC, files, "", "/browse", "/images/*", "/style.css", "/about.html");
        add(context, "NotFound", new ErrorPage(), "/");
    }

    private void page(Context context, String name, PageServlet<?> servlet, String... paths) {
        pages.add(name);
        add(context, name, servlet, paths);
    }

    private static void add(Context context, String name, HttpServlet servlet, String... paths) {
        Tomcat.addServlet(context, name, servlet);
        for (String path : paths) {
            context.addServletMappingDecoded(path, name);
        }
    }

    private static void filter(Context context, String name, Filter filter, List<String> servlets) {
        var definition = new FilterDef();
        definition.setFilterName(name);
        definition.setFilter(filter);
        context.addFilterDef(definition);
        var map = new FilterMap();
        map.setFilterName(name);
        servlets.forEach(map::addServletName);
        context.addFilterMap(map);
    }

    /** Tomcat's name and version. */
    public static String serverInfo() {
        return "Tomcat " + ServerInfo.getServerNumber();
    }

    /** Opens the ports. */
    public void start() throws LifecycleException, IOException {
        try {
            tomcat.start();
        } catch (LifecycleException e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof BindException) {
                    throw new IOException("cannot listen: " + cause.getMessage() + ": choose another --port or --http-port", e);
                }
            }
            throw e;
        }
    }

    /** The port of HTTPS once started. */
    public int httpsPort() {
        return https.getLocalPort();
    }

    /** The port of plain HTTP once started, or -1. */
    public int httpPort() {
        return http == null ? -1 : http.getLocalPort();
    }

    /** Closes the ports, gives requests in progress two seconds, and ends all threads. */
    public void stop() throws LifecycleException {
        tomcat.stop();
        tomcat.destroy();
    }
}
