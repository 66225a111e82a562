package dev.loadline.clinic.data;

import dev.loadline.clinic.run.ClinicProperties;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/**
 * Fills the empty database before the port opens. The same number of owners gives the same rows on every JDK: the
 * scenario of the load relies on ids being 1 to their count, and on each owner having at least one pet.
 */
@Component
class Seed implements SmartInitializingSingleton {
    private static final List<String> FIRST = List.of("Ada", "Bela", "Carla", "Dirk", "Edda", "Finn", "Gesa", "Hauke",
        "Inka", "Jost", "Keno", "Lina", "Mats", "Nele", "Ole", "Pia", "Rike", "Sven", "Tilda", "Uwe");
    private static final List<String> LAST = List.of("Abel", "Brandt", "Claasen", "Dircks", "Evers", "Frerichs", "Gerdes",
        "Harms", "Ihnen", "Janssen", "Kramer", "Lammers", "Meiners", "Nannen", "Oltmanns", "Peters", "Reents", "Siebels",
        "Tammen", "Wilken");
    private static final List<String> STREETS = List.of("Harbour Road", "Mill Lane", "Dyke Street", "Lighthouse Way");
    private static final List<String> CITIES = List.of("Emden", "Leer", "Norden", "Aurich", "Jever", "Esens");
    private static final List<String> NAMES = List.of("Flocke", "Bella", "Rocky", "Luna", "Balu", "Mimi", "Paula", "Max");
    private static final List<String> KINDS = List.of("cat", "dog", "bird", "hamster", "snake", "rabbit");
    private static final List<String> REASONS = List.of("vaccination", "a limp", "check after surgery", "does not eat",
        "teeth", "fur is dull");
    private static final List<String> SPECIALTIES = List.of("dentistry", "radiology", "surgery", "cardiology");
    private static final LocalDate FIRST_DAY = LocalDate.of(2020, 1, 1);
    private static final int MOST_PETS = 3;
    private static final int MOST_VISITS = 4;
    private static final int OWNERS_PER_VET = 40;

    private final JdbcTemplate jdbc;
    private final int owners;

    /** Spring Boot runs schema.sql before it makes a JdbcTemplate. */
    Seed(JdbcTemplate jdbc, ClinicProperties properties) {
        this.jdbc = jdbc;
        this.owners = properties.owners();
    }

    @Override
    public void afterSingletonsInstantiated() {
        var random = new Random(18);
        List<Object[]> ownerRows = new ArrayList<>();
        List<Object[]> petRows = new ArrayList<>();
        List<Object[]> visitRows = new ArrayList<>();
        for (int owner = 1; owner <= owners; owner++) {
            ownerRows.add(new Object[] {of(FIRST, random), of(LAST, random), (1 + random.nextInt(99)) + " " + of(STREETS, random),
                of(CITIES, random), "%010d".formatted(random.nextInt(Integer.MAX_VALUE))});
            for (int pets = 1 + random.nextInt(MOST_PETS); pets > 0; pets--) {
                petRows.add(new Object[] {of(NAMES, random), of(KINDS, random), FIRST_DAY.minusDays(random.nextInt(2000)), owner});
                for (int visits = random.nextInt(MOST_VISITS + 1); visits > 0; visits--) {
                    visitRows.add(new Object[] {FIRST_DAY.plusDays(random.nextInt(2000)), of(REASONS, random), petRows.size()});
                }
            }
        }
        jdbc.batchUpdate("INSERT INTO owner (first_name, last_name, address, city, telephone) VALUES (?, ?, ?, ?, ?)", ownerRows);
        jdbc.batchUpdate("INSERT INTO pet (name, kind, birth_date, owner_id) VALUES (?, ?, ?, ?)", petRows);
        jdbc.batchUpdate("INSERT INTO visit (visited, description, pet_id) VALUES (?, ?, ?)", visitRows);
        vets(random);
    }

    private void vets(Random random) {
        jdbc.batchUpdate("INSERT INTO specialty (name) VALUES (?)", SPECIALTIES.stream().map(s -> new Object[] {s}).toList());
        List<Object[]> vetRows = new ArrayList<>();
        List<Object[]> skills = new ArrayList<>();
        for (int vet = 1; vet <= 1 + owners / OWNERS_PER_VET; vet++) {
            vetRows.add(new Object[] {of(FIRST, random), of(LAST, random)});
            for (int specialty = 1; specialty <= SPECIALTIES.size(); specialty++) {
                if (random.nextBoolean()) {
                    skills.add(new Object[] {vet, specialty});
                }
            }
        }
        jdbc.batchUpdate("INSERT INTO vet (first_name, last_name) VALUES (?, ?)", vetRows);
        jdbc.batchUpdate("INSERT INTO vet_specialties (vet_id, specialties_id) VALUES (?, ?)", skills);
    }

    private static <T> T of(List<T> all, Random random) {
        return all.get(random.nextInt(all.size()));
    }
}
