package io.grpc.testing.integration;

import io.grpc.LoadBalancerRegistry;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs cases of grpc-java's interop client without a JVM for each: its arguments are those of TestServiceClient, every
 * line of standard input names a case, and a line of standard output says what came of it, "ok CASE" or "FAIL CASE why".
 * In this package because the client's methods are not public; it has no other way in than to exit the JVM after a case.
 */
public final class Cases {
  private static final long LIMIT_S = 60;

  public static void main(String[] args) throws Exception {
    LoadBalancerRegistry.getDefaultRegistry().register(new CustomBackendMetricsLoadBalancerProvider());
    BufferedReader names = new BufferedReader(new InputStreamReader(System.in));
    for (String name = names.readLine(); name != null; name = names.readLine()) {
      String why = why(name, args);
      System.out.println(why == null ? "ok " + name : "FAIL " + name + " " + why.replaceAll("\\s+", " "));
    }
    System.exit(0); // whatever threads a failed case has left
  }

  /** Why the case failed, null when it passed. */
  private static String why(String name, String[] args) throws InterruptedException {
    CompletableFuture<Void> over = new CompletableFuture<>();
    Thread thread = new Thread(() -> {
      try {
        run(name, args);
        over.complete(null);
      } catch (Throwable thrown) { // a failed assertion is an Error
        over.completeExceptionally(thrown instanceof InvocationTargetException ? thrown.getCause() : thrown);
      }
    });
    thread.setDaemon(true);
    thread.start();
    try {
      over.get(LIMIT_S, TimeUnit.SECONDS);
      return null;
    } catch (TimeoutException late) {
      return "not over after " + LIMIT_S + " s";
    } catch (ExecutionException failed) {
      return failed.getCause().toString();
    }
  }

  private static void run(String name, String[] args) throws Exception {
    String[] all = Arrays.copyOf(args, args.length + 2);
    all[args.length] = "--test_case=" + name;
    all[args.length + 1] = name.startsWith("orca_")
        ? "--service_config_json={\"loadBalancingConfig\":[{\"test_backend_metrics_load_balancer\":{}}]}"
        : "--soak_per_iteration_max_acceptable_latency_ms=20000"; // the least that all other cases can be given
    TestServiceClient client = new TestServiceClient();
    client.parseArgs(all);
    client.setUp();
    try {
      Method runTest = TestServiceClient.class.getDeclaredMethod("runTest", TestCases.class);
      runTest.setAccessible(true);
      runTest.invoke(client, TestCases.fromString(name));
    } finally {
      Method tearDown = TestServiceClient.class.getDeclaredMethod("tearDown");
      tearDown.setAccessible(true);
      tearDown.invoke(client);
    }
  }
}
