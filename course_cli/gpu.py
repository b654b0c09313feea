"""Is there a GPU that programs built here can use? If not, why, and what would help."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from course_cli.paths import BUILD

CACHE = BUILD / "gpu_probe.json"
HERE = Path(__file__).resolve().parent
NVIDIA_VENDOR, DISPLAY_CLASS = "0x10de", "0x03"


@dataclass
class Gpu:
    """What the probe found. `usable` means: a program compiled here has run on it."""

    usable: bool
    reason: str = ""  # why not, in one line with the remedy
    nvcc: str = ""
    driver_cuda: str = ""  # the newest CUDA version the driver supports
    devices: list[str] = field(default_factory=list)
    hidden: bool = False  # CUDA_VISIBLE_DEVICES hides every device
    present: bool = False  # there is an NVIDIA device in this machine


def find_nvcc() -> str:
    """The toolkit's compiler: on the PATH, in $CUDA_HOME or $CUDA_PATH, or in its usual place."""
    folders = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [f"{folder}/bin/nvcc" for folder in folders if folder]
    return next((found for place in ["nvcc", *places] if (found := shutil.which(place))), "")


def nvcc_version(nvcc: str) -> str:
    """Such as `13.0`; empty if the compiler does not even say its version."""
    try:
        text = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
    except OSError:
        return ""
    return text.partition("release ")[2].partition(",")[0].strip()


def hardware() -> bool:
    """Whether an NVIDIA device is on the bus, with or without a driver."""
    if Path("/dev/dxg").exists() or Path("/dev/nvidiactl").exists():
        return True
    for device in Path("/sys/bus/pci/devices").glob("*"):
        try:
            if (device / "vendor").read_text().strip() != NVIDIA_VENDOR:
                continue
            if (device / "class").read_text().startswith(DISPLAY_CLASS):
                return True
        except OSError:
            continue
    return False


def query_driver() -> dict:
    """The driver's answer; a crash or a hang of the driver becomes an error text."""
    try:
        result = subprocess.run(
            [sys.executable, str(HERE / "driver_query.py")],
            capture_output=True,
            text=True,
            timeout=60,
        )
        return json.loads(result.stdout)
    except subprocess.TimeoutExpired:
        return {"driver": True, "error": "the driver does not answer", "devices": []}
    except json.JSONDecodeError:
        return {"driver": True, "error": "the driver crashed", "devices": []}


def fingerprint(nvcc: str) -> list[str]:
    """Changes when an earlier answer may no longer hold: toolkit, driver, devices, boot."""
    marks = [nvcc, os.environ.get("CUDA_VISIBLE_DEVICES", "all")]
    marks += sorted(str(node) for node in Path("/dev").glob("nvidia*"))
    for file in ("/proc/driver/nvidia/version", "/proc/sys/kernel/random/boot_id"):
        try:
            marks.append(Path(file).read_text())
        except OSError:
            marks.append("")
    if nvcc:
        marks.append(str(os.stat(nvcc).st_mtime_ns))
    return marks


def run_probe(nvcc: str) -> str:
    """Compiles and runs the probe program; empty if it worked, else the reason."""
    with tempfile.TemporaryDirectory(prefix="measure-first-") as folder:
        program = f"{folder}/probe"
        compiled = subprocess.run(
            [nvcc, "-arch=native", str(HERE / "probe.cu"), "-o", program],
            capture_output=True,
            text=True,
        )
        if compiled.returncode != 0:
            lines = (compiled.stderr + compiled.stdout).strip().splitlines()
            return f"nvcc cannot compile here: {lines[-1] if lines else 'no message'}"
        try:
            ran = subprocess.run([program], capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return "a probe program did not end within 120 s"
        if ran.returncode == 0:
            return ""
        return ran.stdout.strip() or f"a probe program died with status {ran.returncode}"


def examine() -> Gpu:
    """Looks at hardware, driver and toolkit, without any cache."""
    gpu = Gpu(usable=False, nvcc=find_nvcc())
    gpu.hidden = os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1")
    answer = query_driver()
    gpu.driver_cuda = answer.get("cuda", "")
    gpu.devices = [
        f"{d['name']} (compute capability {d['capability']})" for d in answer.get("devices", [])
    ]
    gpu.present = bool(gpu.devices) or hardware()
    version = nvcc_version(gpu.nvcc) if gpu.nvcc else ""

    if not gpu.present and not answer["driver"]:
        gpu.reason = "this machine has no NVIDIA GPU"
    elif not answer["driver"]:
        gpu.reason = (
            "there is an NVIDIA GPU but no driver (libcuda.so.1): install NVIDIA's driver, "
            "or start the container with its GPUs"
        )
    elif gpu.hidden:
        gpu.reason = "CUDA_VISIBLE_DEVICES hides every device: unset it"
    elif not gpu.devices:
        error = answer.get("error", "the driver lists no device")
        gpu.reason = f"the driver finds none ({error}): see nvidia-smi"
    elif not gpu.nvcc:
        gpu.reason = (
            f"{gpu.devices[0]} is here, nvcc is not: "
            f"install the CUDA toolkit, at most {gpu.driver_cuda}"
        )
    elif not version:
        gpu.reason = f"{gpu.nvcc} does not run: reinstall the CUDA toolkit"
    elif int(version.split(".")[0]) > int(gpu.driver_cuda.split(".")[0]):
        gpu.reason = (
            f"the driver supports CUDA up to {gpu.driver_cuda}, the toolkit is {version}: "
            f"update the driver, or install toolkit {gpu.driver_cuda}"
        )
    else:
        gpu.reason = run_probe(gpu.nvcc)
        gpu.usable = not gpu.reason
    return gpu


def probe() -> Gpu:
    """`examine()`, remembered while nothing it depends on has changed."""
    marks = fingerprint(find_nvcc())
    try:
        cached = json.loads(CACHE.read_text("utf-8"))
        if cached["fingerprint"] == marks:
            return Gpu(**cached["gpu"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    gpu = examine()
    if gpu.usable:  # a reason why not may be gone the next time
        try:
            CACHE.parent.mkdir(parents=True, exist_ok=True)
            CACHE.write_text(json.dumps({"fingerprint": marks, "gpu": asdict(gpu)}), "utf-8")
        except OSError:
            pass
    return gpu
