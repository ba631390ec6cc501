"""ExecutionEnvironment: hardware, software and settings of a measurement."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kernelindex.manifests.fields import (
    Count,
    Digest,
    Maybe,
    Model,
    NonNegative,
    Number,
    Positive,
    Text,
    Text200,
    Token,
)


class Hardware(Model):
    """The device."""

    vendor: Token = Field(description="Vendor, such as nvidia.")
    product: Text200 = Field(description="Product as the source names it.")
    architecture: Token = Field(description="Architecture, such as sm_90; unknown is allowed.")
    form_factor: Maybe[Text] = Field(None, description="Form factor as the source names it.")
    memory_bytes: Maybe[Count] = Field(None, description="Device memory.")
    count: Maybe[Count] = Field(None, description="Devices used.")
    interconnect: Maybe[Text] = Field(None, description="Link between devices.")


class Framework(Model):
    """The framework that called the kernel."""

    name: Text = Field(description="Framework, such as pytorch.")
    version: Text = Field(description="Its version.")


class Software(Model):
    """Versions in use."""

    operating_system: Maybe[Text] = Field(None, description="Operating system.")
    kernel: Maybe[Text] = Field(None, description="Its kernel.")
    driver: Maybe[Text] = Field(None, description="Device driver.")
    cuda_toolkit: Maybe[Text] = Field(None, description="CUDA toolkit.")
    compiler: Maybe[Text] = Field(None, description="Compiler.")
    framework: Maybe[Framework] = Field(None, description="Framework.")
    libraries: Maybe[dict[Token, Text]] = Field(None, description="Versions by library.")


class Settings(Model):
    """Settings of the device and process."""

    clocks_locked: Maybe[bool] = Field(None, description="Whether clocks are locked.")
    power_limit_watts: Maybe[NonNegative] = Field(None, description="Power limit.")
    persistence_mode: Maybe[bool] = Field(None, description="Whether the driver stays loaded.")
    ecc_enabled: Maybe[bool] = Field(None, description="Whether memory is error-correcting.")
    environment_variables: Maybe[dict[Text, Text]] = Field(None, description="Variables set.")


class ExecutionEnvironment(Model):
    """Hardware, software and settings."""

    hardware: Hardware = Field(description="The device.")
    software: Software = Field(description="Versions in use.")
    settings: Maybe[Settings] = Field(None, description="Settings in force.")
    image_digest: Maybe[Digest] = Field(None, description="Container image.")


class HardwareV2(Hardware):
    """The device, with what splits a device class."""

    mig_profile: Maybe[Text200] = Field(None, description="MIG slice; none where MIG is off.")
    confidential_computing: Maybe[bool] = Field(None, description="Whether it is switched on.")
    multiprocessors: Maybe[Positive] = Field(None, description="Multiprocessors available.")
    l2_bytes: Maybe[Count] = Field(None, description="Last-level cache.")
    default_power_limit_watts: Maybe[NonNegative] = Field(
        None, description="The vendor's own limit, to class the one in force."
    )
    timer_tick_ns: Maybe[NonNegative] = Field(None, description="Resolution of its event timer.")


class Host(Model):
    """The machine around the device."""

    cpu: Maybe[Text200] = Field(None, description="Processor.")
    logical_cores: Maybe[Positive] = Field(None, description="Cores available.")
    memory_bytes: Maybe[Count] = Field(None, description="Main memory.")


class SoftwareV2(Software):
    """Versions in use, Python and firmware included."""

    python: Maybe[Text] = Field(None, description="Python.")
    firmware: Maybe[Text] = Field(None, description="Device firmware (VBIOS).")


class SettingsV2(Settings):
    """Settings of the device and process, clocks included."""

    clock_policy: Maybe[Literal["default", "locked", "application"]] = Field(
        None, description="default: the device decides; locked or application clocks otherwise."
    )
    sm_clock_mhz: Maybe[NonNegative] = Field(None, description="Multiprocessor clock set.")
    memory_clock_mhz: Maybe[NonNegative] = Field(None, description="Memory clock set.")
    global_flags: Maybe[dict[Token, bool | Number | Text200]] = Field(
        None, description="Framework switches, such as allow_tf32."
    )


class ExecutionEnvironmentV2(ExecutionEnvironment):
    """Hardware, host, software and settings."""

    hardware: HardwareV2 = Field(description="The device.")
    software: SoftwareV2 = Field(description="Versions in use.")
    settings: Maybe[SettingsV2] = Field(None, description="Settings in force.")
    host: Maybe[Host] = Field(None, description="The machine around the device.")
