// Nothing but the precompiled headers of its target (tests/support/CMakeLists.txt).
