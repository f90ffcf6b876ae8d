# Untested: no Spack was at hand. In a clone of sonde:
#   spack repo create my-repo; copy this to my-repo/packages/sonde/package.py; spack repo add my-repo
#   spack dev-build sonde@main +cuda cuda_arch=90
from spack.package import *


class Sonde(CMakePackage, CudaPackage):
    """Characterizes the memory hierarchy and cores of every GPU of a cluster, and says which differ."""

    version("main")

    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("openmpi@4:")
    depends_on("hdf5@1.10: +mpi +hl")
    depends_on("hwloc@2:")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.3:")
    depends_on("tomlplusplus@3.3:")
    depends_on("boost@1.74: +math")
    depends_on("cuda@12:", when="+cuda")
    depends_on("googletest@1.12: +gmock", when="+tests", type=("build", "test"))

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define("SONDE_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define_from_variant("SONDE_BUILD_TESTS", "tests"),
        ]
        if self.spec.satisfies("+cuda"):
            targets = self.spec.variants["cuda_arch"].value
            if targets != ("none",):
                arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES",
                                             ";".join(f"{target}-real" for target in targets)))
        return arguments
