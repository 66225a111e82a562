package dev.loadline.guard.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardMXBean;
import dev.loadline.guard.Mode;
import dev.loadline.guard.webflux.GuardWebFilter;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.WebSession;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A reactive application on Netty. Sessions that are there are served on its event loops; one that begins is made by WebFlux on another
 * thread, which hands its request to one of as many others as there are CPUs.
 */
class WebFluxTest {
    @EnableAutoConfiguration(excludeName = "dev.loadline.guard.spring.GuardAutoConfiguration")
    @RestController
    static class ReactiveShop {
        @Bean
        GuardWebFilter guard() {
            return new GuardWebFilter("");
        }

        @GetMapping("/burn")
        Mono<String> burn(@RequestParam("ms") long ms, WebSession session) {
            session.getAttributes().putIfAbsent("known", true);
            Shop.burn(ms);
            return Mono.just("hello /burn");
        }

        @GetMapping("/later")
        Mono<String> later(WebSession session) {
            session.getAttributes().putIfAbsent("known", true);
            return Mono.delay(Duration.ofMillis(20)).map(passed -> "hello later");
        }

        /** Work that is given up before it has a thread. */
        @GetMapping("/impatient")
        Mono<String> impatient() {
            var busy = Schedulers.newSingle("busy", true);
            busy.schedule(() -> Shop.burn(200));
            return Mono.fromCallable(() -> "too late").subscribeOn(busy).timeout(Duration.ofMillis(20), Mono.just("gave up")).doFinally(how -> busy.dispose());
        }

        @GetMapping({"/", "/health/ready"})
        String home() {
            return "hello";
        }
    }

    private static final class NettyServer implements ShopServer {
        private final ConfigurableApplicationContext application;

        NettyServer() {
            var made = new SpringApplication(ReactiveShop.class);
            made.setWebApplicationType(WebApplicationType.REACTIVE);
            application = made.run("--server.port=0", "--server.address=127.0.0.1", "--server.http2.enabled=true", "--server.shutdown=immediate", "--spring.main.banner-mode=off");
        }

        @Override
        public int port() {
            return application.getEnvironment().getProperty("local.server.port", Integer.class);
        }

        @Override
        public Guard guard() {
            return application.getBean(GuardWebFilter.class).guard();
        }

        @Override
        public void close() {
            application.close();
        }
    }

    @Test
    void under_overload_the_sessions_that_are_there_go_on() throws Exception {
        try (var server = new NettyServer()) {
            new Scenario(server).run(true);
            isSeenToTheEnd(server);
        }
    }

    /** Who is answered later, by another thread; and what never has a thread. */
    private static void isSeenToTheEnd(NettyServer server) throws Exception {
        GuardMXBean figures = server.guard().figures();
        server.guard().mode(Mode.ENFORCE);
        Scenario.until("it is calm", () -> !figures.isRefusing());
        long before = figures.getNewSessions();
        Visitor.Reply reply = new Visitor(server.port()).get("/later");
        assertEquals(200, reply.status());
        assertTrue(reply.text().contains("hello later"), reply.text());
        Scenario.until("it ended", () -> figures.getNewSessions() == before + 1);
        assertTrue(new Visitor(server.port()).get("/impatient").text().contains("gave up"));
        Scenario.until("nothing is under way", () -> figures.getEventsUnderWay() == 0);
        assertEquals(0, figures.getErrors());
    }
}
