"""Asks the CUDA driver what is there, as JSON on stdout. A process of its own: a sick driver may
crash or hang whoever loads it."""

import ctypes
import json

# From cuda.h: attributes of a device.
CAPABILITY_MAJOR, CAPABILITY_MINOR = 75, 76


def query() -> dict:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {"driver": False}

    def error_name(code: int) -> str:
        text = ctypes.c_char_p()
        driver.cuGetErrorName(code, ctypes.byref(text))
        return (text.value or b"error %d" % code).decode()

    version = ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(version))
    answer = {
        "driver": True,
        "cuda": f"{version.value // 1000}.{version.value % 1000 // 10}",
        "devices": [],
    }
    code = driver.cuInit(0)
    if code != 0:
        return answer | {"error": error_name(code)}

    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    for index in range(count.value):
        device, number = ctypes.c_int(), ctypes.c_int()
        driver.cuDeviceGet(ctypes.byref(device), index)
        name = ctypes.create_string_buffer(256)
        driver.cuDeviceGetName(name, len(name), device)
        capability = []
        for attribute in (CAPABILITY_MAJOR, CAPABILITY_MINOR):
            driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, device)
            capability.append(str(number.value))
        answer["devices"].append({"name": name.value.decode(), "capability": ".".join(capability)})
    return answer


if __name__ == "__main__":
    print(json.dumps(query()))
