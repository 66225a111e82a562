package dev.loadline.grande;

/** Renders 64 reflecting and transparent spheres in the light of five lamps; the result is the sum of all colours. */
final class RayTracer implements Kernel {
    private static final double NEAR = 1e-6;
    private static final int DEEPEST = 6;
    private static final double FAINTEST = 1e-3;
    private static final double SHINE = 15;
    private static final double REFLECTED = 0.5;
    private static final double TRANSMITTED = 0.5;

    /** A point, a direction, or a colour. */
    private record Vector(double x, double y, double z) {
        static final Vector ZERO = new Vector(0, 0, 0);

        Vector plus(double factor, Vector v) {
            return new Vector(x + factor * v.x, y + factor * v.y, z + factor * v.z);
        }

        Vector minus(Vector v) {
            return new Vector(x - v.x, y - v.y, z - v.z);
        }

        Vector times(double factor) {
            return new Vector(x * factor, y * factor, z * factor);
        }

        double dot(Vector v) {
            return x * v.x + y * v.y + z * v.z;
        }

        Vector cross(Vector v) {
            return new Vector(y * v.z - z * v.y, z * v.x - x * v.z, x * v.y - y * v.x);
        }

        double length() {
            return Math.sqrt(dot(this));
        }

        Vector unit() {
            double length = length();
            return length == 0 ? this : new Vector(x / length, y / length, z / length);
        }
    }

    private record Sphere(Vector centre, double radius, Vector colour) {
        /** Distance at which a ray meets it; infinite if it does not. */
        double meets(Vector from, Vector direction) {
            Vector v = centre.minus(from);
            double b = v.dot(direction);
            double square = b * b - v.dot(v) + radius * radius;
            if (square < 0) {
                return Double.POSITIVE_INFINITY;
            }
            double root = Math.sqrt(square);
            double t = b - root < NEAR ? b + root : b - root;
            return t < NEAR ? Double.POSITIVE_INFINITY : t;
        }
    }

    private final int size;
    private final long expected;
    private final Sphere[] spheres = new Sphere[64];
    private final Vector[] lamps = {
        new Vector(100, 100, -50), new Vector(-100, 100, -50), new Vector(100, -100, -50), new Vector(-100, -100, -50), new Vector(200, 200, 0)
    };
    private long checksum;

    RayTracer(int size, long expected) {
        this.size = size;
        this.expected = expected;
        for (int i = 0; i < 64; i++) {
            int a = i / 16;
            int b = i / 4 % 4;
            int c = i % 4;
            spheres[i] = new Sphere(new Vector(20.0 / 3 * a - 10, 20.0 / 3 * b - 10, 20.0 / 3 * c - 10), 3, new Vector(0, 0, (a + b) / 6.0));
        }
    }

    /** From where, and in which directions, the picture is taken. */
    private record Camera(Vector eye, Vector ahead, Vector left, Vector down) {
        static Camera placed() {
            Vector eye = new Vector(0, 20, -30);
            Vector ahead = Vector.ZERO.minus(eye).unit();
            Vector up = new Vector(0, 1, 0);
            up = up.plus(-up.dot(ahead), ahead).unit();
            double width = Math.tan(35 * 3.14159265 / 180);
            return new Camera(eye, ahead, up.cross(ahead).unit().times(width), up.times(-width));
        }
    }

    @Override
    public void run() {
        Camera camera = Camera.placed();
        long sum = 0;
        //omp parallel for schedule(dynamic, 4) reduction(+ : sum)
        for (int y = 0; y < size; y++) {
            sum += line(camera, y);
        }
        checksum = sum;
    }

    @Override
    public void run(Crew crew) {
        Camera camera = Camera.placed();
        checksum = crew.sum(0, size, y -> line(camera, y));
    }

    /** The sum of one line's colours. */
    private long line(Camera camera, int y) {
        long sum = 0;
        for (int x = 0; x < size; x++) {
            Vector ray = camera.left.times(2.0 * x / size - 1).plus(2.0 * y / size - 1, camera.down).plus(1, camera.ahead).unit();
            Vector colour = trace(0, 1, camera.eye, ray, new Strike());
            sum += level(colour.x) + level(colour.y) + level(colour.z);
        }
        return sum;
    }

    private static int level(double brightness) {
        return Math.min(255, (int) (brightness * 255));
    }

    private Sphere nearest(Vector from, Vector direction) {
        Sphere found = null;
        double distance = 1e9;
        for (Sphere sphere : spheres) {
            double t = sphere.meets(from, direction);
            if (t < distance) {
                distance = t;
                found = sphere;
            }
        }
        return found;
    }

    /**
     * Where the last ray of one pixel struck. The reference values were made by a program that kept
     * one such point, so that its transmitted rays begin where the reflected ray before them ended.
     */
    private static final class Strike {
        Vector point;
    }

    private Vector trace(int depth, double weight, Vector from, Vector direction, Strike strike) {
        Sphere hit = depth > DEEPEST ? null : nearest(from, direction);
        if (hit == null) {
            return Vector.ZERO;
        }
        Vector point = from.plus(hit.meets(from, direction), direction);
        Vector normal = point.minus(hit.centre).unit();
        if (direction.dot(normal) >= 0) {
            normal = normal.times(-1);
        }
        Vector reflected = direction.times(1 / Math.abs(direction.dot(normal))).plus(2, normal).unit();
        Vector colour = lit(hit, point, normal, reflected);
        strike.point = point;
        if (REFLECTED * weight > FAINTEST) {
            colour = colour.plus(REFLECTED, trace(depth + 1, REFLECTED * weight, point, reflected, strike));
        }
        if (TRANSMITTED * weight > FAINTEST) {
            colour = colour.plus(TRANSMITTED, trace(depth + 1, TRANSMITTED * weight, strike.point, refracted(direction, normal), strike));
        }
        return colour;
    }

    /** Snell's law for equal refraction indices: straight on, but for rounding, which the checksum shows. */
    private static Vector refracted(Vector direction, Vector normal) {
        double in = -direction.dot(normal);
        double square = 1 - (1 - in * in);
        return direction.plus(in - Math.sqrt(square), normal).unit();
    }

    /** What the lamps that a point sees make of it. */
    private Vector lit(Sphere sphere, Vector point, Vector normal, Vector reflected) {
        Vector colour = Vector.ZERO;
        for (Vector lamp : lamps) {
            Vector to = lamp.minus(point);
            if (normal.dot(to) >= 0) {
                to = to.unit();
                if (nearest(point, to) == null) {
                    colour = colour.plus(normal.dot(to), sphere.colour);
                    double gloss = reflected.dot(to);
                    if (gloss > NEAR) {
                        double s = Math.pow(gloss, SHINE);
                        colour = colour.plus(s, new Vector(1, 1, 1));
                    }
                }
            }
        }
        return colour;
    }

    @Override
    public void check() {
        if (checksum != expected) {
            throw new IllegalStateException("the sum of colours is " + checksum + "; it should be " + expected);
        }
    }

    @Override
    public double result() {
        return checksum;
    }
}
