from setuptools import find_packages, setup

setup(name='contributed', version='0.1.0', packages=find_packages(exclude=['tests']),
      install_requires=['keras>=2.2,<2.4'], extras_require={'tests': ['pytest']})
