package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.policy.Objective;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class GuardSettingsTest {
    private static String wrong(String text) {
        return assertThrows(IllegalArgumentException.class, () -> GuardSettings.of(text)).getMessage();
    }

    @Test
    void everything_has_a_default() {
        GuardSettings settings = GuardSettings.defaults();
        assertEquals(Mode.ENFORCE, settings.mode());
        assertEquals(Refusal.ALERT, settings.refusal());
        assertEquals(new Objective(0.95, 250_000_000), settings.objective());
        assertEquals(0, settings.cpus());
        assertEquals(Duration.ZERO, settings.fullCost());
    }

    @Test
    void options_are_read_whatever_their_spaces_and_case() {
        GuardSettings settings = GuardSettings.of(" MODE = Observe;high=/checkout/**, /pay ;fullCost=11.5ms; ");
        assertEquals(Mode.OBSERVE, settings.mode());
        assertEquals(Duration.ofNanos(11_500_000), settings.fullCost());
        assertTrue(settings.high().matches("/checkout/step/2"));
        assertTrue(settings.high().matches("/pay"));
        assertFalse(settings.high().matches("/payment"));
    }

    @Test
    void an_error_names_the_option_its_value_and_what_is_allowed() {
        assertEquals("guard: mode is 'on'; it must be one of off, observe, enforce", wrong("mode=on"));
        assertEquals("guard: probeShare is '-1'; it must be a number from 0.0 to 1.0", wrong("probeShare=-1"));
        assertTrue(wrong("retryAfter=5").startsWith("guard: retryAfter is '5'; it must be a time from 1000ms to 86400s"));
        assertTrue(wrong("objective=fast").startsWith("guard: objective: 'fast' is no objective"));
        assertTrue(wrong("mood=off").startsWith("guard: there is no option 'mood'; there are mode, refuse, exempt"));
        assertEquals("guard: 'observe' is no option: key=value; key=value", wrong("observe"));
        assertTrue(wrong("exempt=example.com").contains("exempt: 'example.com' is no address"));
        assertTrue(wrong("high=checkout").contains("high: 'checkout' is no pattern"));
        assertTrue(wrong("pageFile=/nowhere/page.html").contains("pageFile: cannot read '/nowhere/page.html'"));
    }

    @Test
    void the_proxy_protocol_needs_to_know_who_may_speak_it() {
        assertEquals(ProxyProtocol.OFF, GuardSettings.defaults().proxyProtocol());
        GuardSettings settings = GuardSettings.of("proxyProtocol=optional; trustedProxies=10.0.0.0/8");
        assertEquals(ProxyProtocol.OPTIONAL, settings.proxyProtocol());
        assertEquals("guard: proxyProtocol is 'required', and trustedProxies is empty: name the addresses of the proxies whose headers are to be believed",
            wrong("proxyProtocol=required"));
        assertEquals("guard: proxyProtocol is 'on'; it must be one of off, required, optional", wrong("proxyProtocol=on; trustedProxies=::1"));
        assertEquals("guard: proxyProtocol is of Tomcat's connector alone: do that",
            assertThrows(IllegalArgumentException.class, () -> settings.withoutProxyProtocol("do that")).getMessage());
    }

    @Test
    void an_option_that_is_gone_says_what_is_in_its_place() {
        assertEquals("guard: the option targetWaiting is gone: how long requests may wait follows from objective, such as"
            + " objective=p95=250ms", wrong("targetWaiting=6"));
        assertTrue(wrong("interval=1s").startsWith("guard: the option interval is gone"));
        assertTrue(wrong("resumedCeiling=0.9").startsWith("guard: the option resumedCeiling is gone"));
    }

    @Test
    void networks_contain_their_addresses() throws Exception {
        Addresses addresses = Addresses.parse("10.2.0.0/15, 192.168.7.7, fe80::/10");
        assertFalse(addresses.contains(InetAddress.getByName("10.1.255.255")));
        assertTrue(addresses.contains(InetAddress.getByName("10.3.255.1")));
        assertTrue(addresses.contains(InetAddress.getByName("192.168.7.7")));
        assertFalse(addresses.contains(InetAddress.getByName("192.168.7.8")));
        assertTrue(addresses.contains(InetAddress.getByName("fe80::1")));
        assertFalse(addresses.contains(InetAddress.getByName("::1")));
    }

    @Test
    void patterns_are_below_ending_or_exact() {
        PathPatterns patterns = PathPatterns.parse("/checkout/**, *.css, /cart");
        assertTrue(patterns.matches("/checkout"));
        assertTrue(patterns.matches("/checkout/"));
        assertFalse(patterns.matches("/checkouts"));
        assertTrue(patterns.matches("/a/b.css"));
        assertTrue(patterns.matches("/cart"));
        assertFalse(patterns.matches("/cart/1"));
    }

    /** docs/guard.md lists what there is. */
    @Test
    void every_option_is_documented_with_its_default() throws Exception {
        String page = Files.readString(Path.of("../../docs/guard.md"));
        for (Option option : Option.values()) {
            String row = "| `" + option.key() + "` | " + (option.byDefault().isEmpty() ? "" : "`" + option.byDefault() + "` ")
                + "| " + option.meaning() + " |";
            assertTrue(page.contains(row), "docs/guard.md should have: " + row);
        }
    }
}
