"""Settings of applications on the JVM: Spring Boot, Spring Cloud Stream, Quarkus (SmallRye)."""
