package dev.loadline.bed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class OptionsTest {
    private static Options of(String line) {
        return new Options(List.of(line.split(" ")));
    }

    private static void refused(String line, String why, Consumer<Options> read) {
        var e = assertThrows(Options.UsageException.class, () -> read.accept(of(line)));
        assertTrue(e.getMessage().contains(why), e.getMessage());
    }

    @Test
    void readsWhatIsGivenAndElseTheDefault() {
        Options options = of("--n 7 --fast --for 1.5 --kind b");
        assertEquals(7, options.number("--n", 1, 1, 9));
        assertEquals(3, options.number("--m", 3, 1, 9));
        assertTrue(options.flag("--fast"));
        assertEquals(1.5, options.seconds("--for", 9, 0));
        assertEquals("b", options.oneOf("--kind", "a", List.of("a", "b")));
        options.done();
    }

    @Test
    void refusesWhatIsNotRightAndSaysWhatIs() {
        refused("--n ten", "--n is 'ten'; it must be a whole number from 1 to 9", o -> o.number("--n", 1, 1, 9));
        refused("--n 10", "from 1 to 9", o -> o.number("--n", 1, 1, 9));
        refused("--for -1", "seconds from 0.0 to 3600", o -> o.seconds("--for", 1, 0));
        refused("--for NaN", "seconds from 0.0 to 3600", o -> o.seconds("--for", 1, 0));
        refused("--kind c", "one of a, b", o -> o.oneOf("--kind", "a", List.of("a", "b")));
        refused("--n", "--n needs a value", o -> o.text("--n", null));
        refused("--fast 1", "takes no value", o -> o.flag("--fast"));
        refused("n 1", "'n' is no option", o -> { });
        refused("--n 1 --n 2", "given twice", o -> { });
        refused("--m 1", "--m is no option; there are --n", o -> {
            o.text("--n", null);
            o.done();
        });
    }
}
