package dev.loadline.agent.programs;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import dev.loadline.agent.testing.Program;
import io.lettuce.core.RedisClient;
import java.net.InetSocketAddress;
import org.bson.Document;
import redis.clients.jedis.JedisPooled;

/** Asks stores, by a client that the command names: a Redis at {@code -Dredis=PORT}, and a MongoDB of its own. */
public final class StoreCalls extends Program {
    private final MongoServer server = new MongoServer(new MemoryBackend());
    private final InetSocketAddress mongo = server.bind();
    private final MongoClient documents = MongoClients.create("mongodb://127.0.0.1:" + mongo.getPort());
    private final int redis = Integer.getInteger("redis", 0);
    private final JedisPooled jedis = new JedisPooled("127.0.0.1", redis);
    private final RedisClient lettuce = RedisClient.create("redis://127.0.0.1:" + redis);

    public static void main(String[] arguments) throws Exception {
        try {
            new StoreCalls().serve();
        } finally {
            System.exit(0); // threads of clients and of the server would go on
        }
    }

    @Override
    protected String handle(String command) throws Exception {
        switch (command) {
            case "mongo":
                return String.valueOf(mongo.getPort());
            case "documents":
                var items = documents.getDatabase("shop").getCollection("items");
                items.insertOne(new Document("name", "plums"));
                return items.find(new Document("name", "plums")).first().getString("name");
            case "jedis":
                return jedis.set("jedis", "plums") + " " + jedis.get("jedis");
            case "lettuce":
                try (var connection = lettuce.connect()) {
                    return connection.sync().set("lettuce", "plums") + " " + connection.async().get("lettuce").get();
                }
            case "reactive":
                try (var connection = lettuce.connect()) {
                    return connection.reactive().get("lettuce").block();
                }
            default:
                throw new IllegalArgumentException(command);
        }
    }
}
